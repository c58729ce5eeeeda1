import os
print("bye")
os._exit(4)
