export { MachineFileError } from './error.js'
export { linkAt, MachineFiles } from './files.js'
export { readRegularFile } from './regular-file.js'
export { folderOf, resolveInRoot } from './resolve.js'
