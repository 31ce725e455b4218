/** Returns a number of bytes for a message: '1 byte', '12 bytes'. */
export function countBytes(bytes: number): string {
  return `${bytes} ${bytes === 1 ? 'byte' : 'bytes'}`
}
