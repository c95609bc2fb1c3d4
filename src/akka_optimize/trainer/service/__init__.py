"""The trainer as a service on a port: gRPC, gRPC-Web and Connect, one set of methods under all three.

* `endpoints`: the servicer's methods as connectrpc endpoints; threads, deadlines, errors
* `app`: what answers under which path
* `serving`: the servicer that answers now, from the start's first moment
* `server`: sockets, start and graceful stop
"""
