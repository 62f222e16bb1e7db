value = 1
def read():
    return value
