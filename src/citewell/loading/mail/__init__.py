"""Mail: EML and Outlook's MSG, with quoted replies and attachments."""
