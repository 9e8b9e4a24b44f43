"""The default algorithm: one noisy grid on a fitted view, then rounds on shortened residuals."""
