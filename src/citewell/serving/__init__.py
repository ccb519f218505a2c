"""The service: HTTP for people, programs and other machines, each with the rights of whoever asks. docs/service.md.

a request - border (id, headers, errors) - guard (who, how often, how much) - a route - a lane - the index
"""
