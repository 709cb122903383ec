layers = 3
