# Two threads, and two locks that they take in opposite orders: the interpreter's, and that of a library.
import ctypes
import sys
import threading
import time

without, within = ctypes.CDLL(sys.argv[1]), ctypes.PyDLL(sys.argv[1])
assert without.begin() == 0
other = threading.Thread(target=lambda: [without.give() for _ in range(5)])
other.start()
while other.is_alive():
    within.look()
    time.sleep(0.001)
print("done")
