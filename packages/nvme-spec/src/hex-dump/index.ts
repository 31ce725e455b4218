/**
 * Bytes from text and back: hex dumps as printed by xxd, hexdump, od and nvme-cli, and plain hexadecimal digits.
 * @module
 */
export { formatHexDump } from './format.js'
export { HexDumpError, parseHexDump } from './parse.js'
export { parseHexDigits, readDumpBytes, readDumpText } from './read.js'
