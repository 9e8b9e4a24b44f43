from .charts.player.player_page import show as show
