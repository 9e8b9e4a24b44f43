from .charts.player.shown import show as show
