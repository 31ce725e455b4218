// Mounts a FUSE file system at the folder named, with one file of 1 MiB, `file`. After the file is opened, it answers no
// request: a process that reads attributes or closes the file waits until this process is killed.
import { spawnSync } from 'node:child_process'
import { openSync, readSync, writeSync } from 'node:fs'

const [LOOKUP, GETATTR, OPEN, INIT] = [1, 3, 14, 26]
const [ENOSYS, FOLDER, FILE] = [38, 0o40755, 0o100666]

const device = openSync('/dev/fuse', 'r+')
const options = 'fd=3,rootmode=40000,user_id=0,group_id=0'
const mounted = spawnSync('mount', ['-i', '-t', 'fuse', '-o', options, 'none', process.argv[2]], {
  stdio: ['ignore', 'inherit', 'inherit', device],
})
if (mounted.status !== 0) process.exit(1)
console.log('mounted')

/** fuse_attr: ino, size, blocks, three times, their nanoseconds, mode, nlink, uid, gid, rdev, blksize, flags. */
function attributes(node) {
  const attr = Buffer.alloc(88)
  attr.writeBigUInt64LE(BigInt(node))
  attr.writeBigUInt64LE(node === 1 ? 0n : 1_048_576n, 8)
  attr.writeUInt32LE(node === 1 ? FOLDER : FILE, 60)
  attr.writeUInt32LE(1, 64)
  return attr
}

const answers = {
  // fuse_init_out: major, minor, max_readahead, flags, then max_background and congestion_threshold, max_write.
  [INIT]: () => Buffer.concat([Uint32Array.of(7, 31, 65536, 0, 0, 65536), Buffer.alloc(40)].map(asBytes)),
  // fuse_entry_out: nodeid, generation, validity times of both; then the attributes.
  [LOOKUP]: () => Buffer.concat([asBytes(BigUint64Array.of(2n, 0n, 0n, 0n, 0n)), attributes(2)]),
  // fuse_attr_out: validity time of the attributes; then the attributes.
  [GETATTR]: (node) => Buffer.concat([Buffer.alloc(16), attributes(node)]),
  // fuse_open_out: fh, flags.
  [OPEN]: () => Buffer.alloc(16),
}

function asBytes(array) {
  return Buffer.from(array.buffer, array.byteOffset, array.byteLength)
}

const request = Buffer.alloc(1_048_576)
let isSilent = false
for (;;) {
  readSync(device, request)
  if (isSilent) continue
  const opcode = request.readUInt32LE(4)
  const data = answers[opcode]?.(Number(request.readBigUInt64LE(16))) ?? Buffer.alloc(0)
  // fuse_out_header: len, error, unique.
  const header = Buffer.alloc(16)
  header.writeUInt32LE(16 + data.length)
  header.writeInt32LE(answers[opcode] === undefined ? -ENOSYS : 0, 4)
  request.copy(header, 8, 8, 16)
  // The kernel requires one write for each reply, and rejects replies to requests that it does not wait for.
  try {
    writeSync(device, Buffer.concat([header, data]))
  } catch (error) {
    if (error.code !== 'ENOENT') throw error
  }
  isSilent = opcode === OPEN
}
