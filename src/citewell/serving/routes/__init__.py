"""The routes of the service, a module for each thing they are about."""
