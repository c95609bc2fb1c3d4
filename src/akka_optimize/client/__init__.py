"""The service as Python methods, over interchangeable transports."""
