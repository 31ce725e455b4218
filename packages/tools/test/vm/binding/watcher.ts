// Beside the command, where it looks for it. By import(), since a bundler leaves out what is imported for nothing.
await import('../../../dist/binding/watcher.js')
