"""A dataset for tests of the loader."""


class Calls:
    """Sample ``i`` is what ``function(i)`` returns."""

    def __init__(self, function, n=10):
        self.function = function
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return self.function(i)
