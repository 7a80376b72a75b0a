"""Learning rate schedules, by kind; ``taeda.optim.lr_scheduler`` is their public module."""
