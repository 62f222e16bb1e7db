class Thing:
    def name(self):
        return type(self).__name__
