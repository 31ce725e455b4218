import { closeSync, fstatSync, openSync, readFileSync, readSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { nativeHostModule } from '@gpunvme/cuda-native/host'
import type { VfioUserHost } from '@gpunvme/nvme-spec/transport'
import { describe, expect, test } from 'vitest'
import { run } from '../../test/child.js'
import { isBuilt, native, skipped, sockets } from '../../test/native.js'
import { scratchFile } from '../../test/scratch-file.js'
import { openDescriptors, socketFolder, socketPair } from '../../test/socket-pair.js'

const MS = 1_000_000
const SECONDS = 1_000_000_000
const text = (value: string) => new TextEncoder().encode(value)
const none = () => new Int32Array(17)

/** Receives available bytes as text, with their descriptors. */
function receiveText(socket: number, room = 65536): [string, ...number[]] {
  const into = new Uint8Array(room)
  const descriptors = none()
  const length = sockets.receive(socket, into, descriptors)
  return [Buffer.from(into.subarray(0, length)).toString(), ...descriptors.subarray(1, 1 + descriptors[0]!)]
}

describe.skipIf(!isBuilt)(`listen, accept and connect${skipped}`, () => {
  test('a client is accepted once, and both ends receive from each other', () => {
    using folder = socketFolder()
    const path = join(folder.path, 'socket')
    const listener = sockets.listen(path)
    expect(sockets.accept(listener)).toBeUndefined()
    const client = sockets.connect(path)
    expect(sockets.poll(Int32Array.of(listener), 10 * SECONDS)).toBe(1)
    const server = sockets.accept(listener)!
    expect(sockets.accept(listener)).toBeUndefined()
    sockets.send(client, text('ping'), undefined, SECONDS)
    expect(receiveText(server)).toEqual(['ping'])
    sockets.send(server, text('pong'), undefined, SECONDS)
    expect(receiveText(client)).toEqual(['pong'])
    for (const fd of [listener, client, server]) closeSync(fd)
  })

  test('the listening socket has mode 600, whatever the umask', () => {
    using folder = socketFolder()
    const before = process.umask(0)
    try {
      const path = join(folder.path, 'socket')
      closeSync(sockets.listen(path))
      expect(statSync(path).isSocket()).toBe(true)
      expect((statSync(path).mode & 0o777).toString(8)).toBe('600')
    } finally {
      process.umask(before)
    }
  })

  test('listen replaces nothing that exists: no socket, used or unused, no file, no link', () => {
    using folder = socketFolder()
    const inUse = expect.objectContaining({ code: 'EADDRINUSE', errno: -98, syscall: 'bind' }) as Error
    const path = join(folder.path, 'socket')
    const listener = sockets.listen(path)
    const before = openDescriptors()
    expect(() => sockets.listen(path)).toThrow(inUse)
    expect(() => sockets.listen(path)).toThrow(`EADDRINUSE: Address already in use, bind '${path}'`)
    expect(openDescriptors()).toBe(before)
    closeSync(listener)
    expect(() => sockets.listen(path)).toThrow(inUse)
    const file = join(folder.path, 'file')
    writeFileSync(file, 'kept')
    expect(() => sockets.listen(file)).toThrow(inUse)
    expect(readFileSync(file, 'utf8')).toBe('kept')
    const link = join(folder.path, 'link')
    symlinkSync('nowhere', link)
    expect(() => sockets.listen(link)).toThrow(inUse)
  })

  test('a failed connection is an error with its cause, and nothing stays open', () => {
    using folder = socketFolder()
    const before = openDescriptors()
    const path = join(folder.path, 'socket')
    expect(() => sockets.connect(path)).toThrow(
      expect.objectContaining({ code: 'ENOENT', errno: -2, syscall: 'connect', path }),
    )
    closeSync(sockets.listen(path))
    expect(() => sockets.connect(path)).toThrow(expect.objectContaining({ code: 'ECONNREFUSED' }))
    expect(() => sockets.listen(join(folder.path, 'none', 'socket'))).toThrow(
      expect.objectContaining({ code: 'ENOENT', syscall: 'bind' }),
    )
    expect(openDescriptors()).toBe(before)
  })

  test('a full accept queue rejects the next client at once', () => {
    using folder = socketFolder()
    const path = join(folder.path, 'socket')
    const listener = sockets.listen(path)
    const clients: number[] = []
    const connectAll = () => {
      while (clients.length < 1000) clients.push(sockets.connect(path))
    }
    expect(connectAll).toThrow(expect.objectContaining({ code: 'EAGAIN', syscall: 'connect' }))
    expect(clients.length).toBeGreaterThanOrEqual(16)
    closeSync(sockets.accept(listener)!)
    clients.push(sockets.connect(path))
    for (const fd of [listener, ...clients]) closeSync(fd)
  })

  test('a path has 1 to 107 bytes, none of them zero', () => {
    using folder = socketFolder()
    const ofBytes = (length: number) => join(folder.path, 'x'.repeat(length - folder.path.length - 1))
    const range = (got: number | string) =>
      new RangeError(`path: expected 1 to 107 bytes in UTF-8, the limit of the kernel, got ${got}`)
    for (const open of [(path: string) => sockets.listen(path), (path: string) => sockets.connect(path)]) {
      expect(() => open(ofBytes(108))).toThrow(range(108))
      expect(() => open('')).toThrow(range(0))
      expect(() => open(`${folder.path}/a\0b`)).toThrow(RangeError)
      // An abstract socket name, which has no file mode.
      expect(() => open('\0abstract')).toThrow(RangeError)
      expect(() => open(7 as unknown as string)).toThrow(new TypeError('path: expected a string, got 7'))
    }
    const listener = sockets.listen(ofBytes(107))
    closeSync(sockets.connect(ofBytes(107)))
    closeSync(listener)
    expect(statSync(ofBytes(107)).isSocket()).toBe(true)
  })

  test('the length of a path counts UTF-8 bytes, and the file has the exact name', () => {
    using folder = socketFolder()
    const path = join(folder.path, 'Sträuße-🦀')
    const listener = sockets.listen(path)
    const client = sockets.connect(path)
    expect(statSync(path).isSocket()).toBe(true)
    for (const fd of [client, listener]) closeSync(fd)
    const letters = 107 - folder.path.length - 1
    const tooLong = join(folder.path, 'ä'.repeat(Math.floor(letters / 2) + 1))
    expect(tooLong.length).toBeLessThanOrEqual(107)
    expect(() => sockets.listen(tooLong)).toThrow(RangeError)
  })

  test('accept rejects a descriptor that is not a listener', () => {
    using pair = socketPair()
    using file = scratchFile(new Uint8Array(1))
    expect(() => sockets.accept(pair.client)).toThrow(expect.objectContaining({ code: 'EINVAL', syscall: 'accept' }))
    expect(() => sockets.accept(file.fd)).toThrow(expect.objectContaining({ code: 'ENOTSOCK' }))
    expect(() => sockets.accept(-1)).toThrow(
      new RangeError('listener: expected an integer from 0 to 2147483647, got -1'),
    )
  })
})

describe.skipIf(!isBuilt)(`receive and send${skipped}`, () => {
  test('receive returns bytes in order, up to the size of the buffer, and -1 if there are none', () => {
    using pair = socketPair()
    expect(sockets.receive(pair.server, new Uint8Array(1), none())).toBe(-1)
    sockets.send(pair.client, text('one'), undefined, SECONDS)
    sockets.send(pair.client, text('two'), undefined, SECONDS)
    expect(receiveText(pair.server, 4)).toEqual(['onet'])
    expect(receiveText(pair.server, 4)).toEqual(['wo'])
    expect(sockets.receive(pair.server, new Uint8Array(1), none())).toBe(-1)
  })

  test('receive writes only to the given part of a buffer', () => {
    using pair = socketPair()
    const whole = new Uint8Array(16).fill(0xa5)
    sockets.send(pair.client, text('..abcdefgh..').subarray(2, 10), undefined, SECONDS)
    expect(sockets.receive(pair.server, whole.subarray(3, 9), none())).toBe(6)
    expect(Buffer.from(whole).toString('latin1')).toBe(`${'\xa5'.repeat(3)}abcdef${'\xa5'.repeat(7)}`)
  })

  test('a received descriptor is the same file under another number, with close-on-exec set', () => {
    using pair = socketPair()
    using file = scratchFile(text('content'))
    sockets.send(pair.client, text('take'), Int32Array.of(file.fd), SECONDS)
    const [message, fd, ...more] = receiveText(pair.server)
    expect([message, more]).toEqual(['take', []])
    expect(fd).not.toBe(file.fd)
    const [sent, received] = [fstatSync(file.fd), fstatSync(fd!)]
    expect([received.dev, received.ino]).toEqual([sent.dev, sent.ino])
    // O_CLOEXEC (asm-generic/fcntl.h), which the kernel shows with the flags of the descriptor.
    const flags = /^flags:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd!}`, 'utf8'))![1]!
    expect(parseInt(flags, 8) & 0o2000000).toBe(0o2000000)
    closeSync(fd!)
    const bytes = new Uint8Array(7)
    expect(readSync(file.fd, bytes, 0, 7, 0)).toBe(7)
  })

  test('a received eventfd is the one that was sent', () => {
    using pair = socketPair()
    const event = sockets.eventfd()
    sockets.send(pair.server, text('!'), Int32Array.of(event), SECONDS)
    const [, received] = receiveText(pair.client)
    writeFileSync(received!, new Uint8Array(new BigUint64Array([5n]).buffer))
    const count = new Uint8Array(8)
    readSync(event, count)
    expect(count[0]).toBe(5)
    for (const fd of [event, received!]) closeSync(fd)
  })

  test('sixteen descriptors arrive with one message, in order', () => {
    using pair = socketPair()
    using file = scratchFile(new Uint8Array(1))
    const before = openDescriptors()
    const events = Array.from({ length: 15 }, () => native.eventfd())
    sockets.send(pair.client, text('16'), Int32Array.of(...events, file.fd), SECONDS)
    const [message, ...received] = receiveText(pair.server)
    expect(message).toBe('16')
    expect(received).toHaveLength(16)
    const idOf = (fd: number) => /^eventfd-id:\s*\d+$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))![0]
    expect(received.slice(0, 15).map(idOf)).toEqual(events.map(idOf))
    expect(fstatSync(received[15]!).ino).toBe(fstatSync(file.fd).ino)
    for (const fd of [...events, ...received]) closeSync(fd)
    expect(openDescriptors()).toBe(before)
  })

  test.each([
    [17, 17],
    [17, 200],
    [253, 17],
    [4, 4],
    [1, 1],
  ])('%i descriptors are rejected and closed if the array has %i elements', (count, room) => {
    using pair = socketPair()
    const event = native.eventfd()
    const before = openDescriptors()
    const descriptors = new Int32Array(room).fill(-7)
    sockets.send(pair.client, text('many'), new Int32Array(count).fill(event), SECONDS)
    expect(() => sockets.receive(pair.server, new Uint8Array(16), descriptors)).toThrow(
      expect.objectContaining({ code: 'EMSGSIZE', errno: -90, syscall: 'recvmsg' }),
    )
    expect(descriptors[0]).toBe(0)
    expect(openDescriptors()).toBe(before)
    closeSync(event)
  })

  test('descriptors belong to the message of the last byte, and limit what one call returns', () => {
    using pair = socketPair()
    const event = native.eventfd()
    for (const [message, descriptors] of [
      ['a', undefined],
      ['b', Int32Array.of(event)],
      ['c', undefined],
      ['d', Int32Array.of(event, event)],
    ] as const) {
      sockets.send(pair.client, text(message), descriptors, SECONDS)
    }
    const [first, ...ofFirst] = receiveText(pair.server)
    const [second, ...ofSecond] = receiveText(pair.server)
    expect([first, ofFirst.length, second, ofSecond.length]).toEqual(['ab', 1, 'cd', 2])
    for (const fd of [event, ...ofFirst, ...ofSecond]) closeSync(fd)
  })

  test('a closed end is distinguished from silence, also with unread bytes', () => {
    using pair = socketPair()
    sockets.send(pair.server, text('never read'), undefined, SECONDS)
    sockets.send(pair.client, text('last words'), undefined, SECONDS)
    pair.close('client')
    expect(receiveText(pair.server)).toEqual(['last words'])
    expect(sockets.receive(pair.server, new Uint8Array(1), none())).toBe(0)
    expect(sockets.receive(pair.server, new Uint8Array(1), none())).toBe(0)
    expect(sockets.poll(Int32Array.of(pair.server), 0)).toBe(1)
    expect(() => sockets.send(pair.server, text('x'), undefined, SECONDS)).toThrow(
      expect.objectContaining({ code: 'EPIPE', errno: -32, syscall: 'sendmsg' }),
    )
  })

  test('send to a peer that does not receive ends at its timeout', () => {
    using pair = socketPair()
    const bytes = new Uint8Array(8 * 1024 * 1024).map((_, index) => index >> 10)
    const fromNs = process.hrtime.bigint()
    expect(() => sockets.send(pair.client, bytes, undefined, 20 * MS)).toThrow(
      expect.objectContaining({ code: 'ETIMEDOUT', errno: -110, syscall: 'sendmsg' }),
    )
    expect(process.hrtime.bigint() - fromNs).toBeGreaterThanOrEqual(20_000_000n)
    // The bytes that fitted into the socket arrive intact.
    const into = new Uint8Array(bytes.length)
    let length = 0
    for (let part; (part = sockets.receive(pair.server, into.subarray(length), none())) > 0;) length += part
    expect(length).toBeGreaterThan(0)
    expect(Buffer.compare(into.subarray(0, length), bytes.subarray(0, length))).toBe(0)
  })

  test('the timeout applies to each part sent, and descriptors go with the first byte only', async () => {
    using folder = socketFolder()
    const path = join(folder.path, 'socket')
    const listener = sockets.listen(path)
    // Receives 4 MiB in small parts; prints the number of bytes, wrong bytes, and descriptors.
    const reader = run(`
      const socket = host.connect(${JSON.stringify(path)})
      const into = new Uint8Array(65536), descriptors = new Int32Array(17)
      let bytes = 0, wrong = 0, withDescriptors = []
      while (host.poll(Int32Array.of(socket), 60e9) !== 0) {
        const length = host.receive(socket, into, descriptors)
        if (length <= 0) break
        if (descriptors[0] > 0) withDescriptors.push([bytes, descriptors[0]])
        for (let i = 0; i < length; i++) if (into[i] !== (((bytes + i) >> 8) & 255)) wrong++
        bytes += length
      }
      console.log(JSON.stringify({ bytes, wrong, withDescriptors }))`)
    expect(sockets.poll(Int32Array.of(listener), 60 * SECONDS)).toBe(1)
    const server = sockets.accept(listener)!
    const event = native.eventfd()
    const bytes = new Uint8Array(4 * 1024 * 1024).map((_, index) => index >> 8)
    sockets.send(server, bytes, Int32Array.of(event, event), 60 * SECONDS)
    for (const fd of [server, listener, event]) closeSync(fd)
    expect(await reader).toEqual({ bytes: 4194304, wrong: 0, withDescriptors: [[0, 2]] })
  }, 120_000)

  test('another process receives the same file, and sends one back', async () => {
    using folder = socketFolder()
    using file = scratchFile(text('written here'))
    const path = join(folder.path, 'socket')
    const listener = sockets.listen(path)
    const child = run(`
      const { closeSync, fstatSync, openSync, readFileSync, writeSync } = await import('node:fs')
      const socket = host.connect(${JSON.stringify(path)})
      const into = new Uint8Array(64), descriptors = new Int32Array(17)
      if (host.poll(Int32Array.of(socket), 60e9) === 0) throw new Error('nothing came')
      const length = host.receive(socket, into, descriptors)
      const { dev, ino } = fstatSync(descriptors[1])
      writeSync(descriptors[1], 'there', 8, 'latin1')
      const own = openSync('/dev/null', 'r')
      host.send(socket, Buffer.from('back'), Int32Array.of(own), 60e9)
      console.log(JSON.stringify([Buffer.from(into.subarray(0, length)).toString(), descriptors[0], dev, ino]))`)
    expect(sockets.poll(Int32Array.of(listener), 60 * SECONDS)).toBe(1)
    const server = sockets.accept(listener)!
    sockets.send(server, text('here'), Int32Array.of(file.fd), SECONDS)
    expect(sockets.poll(Int32Array.of(server), 60 * SECONDS)).toBe(1)
    const [message, fd] = receiveText(server)
    expect([message, fstatSync(fd!).rdev]).toEqual(['back', statSync('/dev/null').rdev])
    const { dev, ino } = fstatSync(file.fd)
    expect(await child).toEqual(['here', 1, dev, ino])
    expect(readFileSync(file.path, 'utf8')).toBe('written there')
    for (const each of [fd!, server, listener]) closeSync(each)
  }, 120_000)

  test('invalid messages are rejected before anything is sent or read', () => {
    using pair = socketPair()
    const one = new Uint8Array(1)
    expect(() => sockets.send(pair.client, new Uint8Array(0), undefined, 0)).toThrow(
      new RangeError('bytes: expected at least 1 byte, got 0'),
    )
    expect(() => sockets.receive(pair.server, new Uint8Array(0), none())).toThrow(
      new RangeError('into: expected at least 1 byte, got 0'),
    )
    expect(() => sockets.receive(pair.server, one, new Int32Array(0))).toThrow(
      new RangeError('descriptors: expected at least 1 element, got 0'),
    )
    expect(() => sockets.receive(pair.server, one, new Uint32Array(17) as unknown as Int32Array)).toThrow(
      new TypeError('descriptors: expected an Int32Array, got an object'),
    )
    expect(() => sockets.send(pair.client, one, new Int32Array(254), 0)).toThrow(
      new RangeError('descriptors: expected at most 253 elements, got 254'),
    )
    expect(() => sockets.send(pair.client, one, undefined, Infinity)).toThrow(
      new RangeError('timeoutNs: expected nanoseconds from 0 to 2^53 - 1, got Infinity'),
    )
    expect(() => sockets.send(pair.client, 'x' as unknown as Uint8Array, undefined, 0)).toThrow(
      new TypeError('bytes: expected a Uint8Array, got a string'),
    )
    expect(() => sockets.send(pair.client, one, Int32Array.of(2 ** 30), 0)).toThrow(
      expect.objectContaining({ code: 'EBADF', syscall: 'sendmsg' }),
    )
    expect(sockets.receive(pair.server, one, none())).toBe(-1)
  })

  test('descriptors beyond RLIMIT_NOFILE are an error, and nothing stays open', async () => {
    // In a separate process, with a low descriptor limit that is used up.
    const result = await run(
      `
      const { closeSync, openSync, readdirSync } = await import('node:fs')
      const { mkdtempSync, rmSync } = await import('node:fs')
      const folder = mkdtempSync('/tmp/gpunvme-')
      const listener = host.listen(folder + '/s')
      const client = host.connect(folder + '/s')
      const server = host.accept(listener)
      rmSync(folder, { recursive: true })
      readdirSync('/proc/self/fd')
      const codes = []
      for (const left of [0, 1, 2]) {
        const used = []
        try {
          while (used.length < 4096) used.push(openSync('/dev/null', 'r'))
        } catch (error) {
          if (error.code !== 'EMFILE') throw error
        }
        for (let i = 0; i < left; i++) closeSync(used.pop())
        host.send(client, Buffer.from('x'), Int32Array.of(client, client), 1e9)
        const descriptors = new Int32Array(17)
        let code = 'none'
        try {
          host.receive(server, new Uint8Array(4), descriptors)
        } catch (error) {
          code = error.code
        }
        // Received descriptors are closed by another process, which takes its time.
        const sleep = new Int32Array(new SharedArrayBuffer(4))
        let free = 0
        for (let tries = 0; free < left && tries < 10_000; tries++) {
          if (tries > 0) Atomics.wait(sleep, 0, 0, 1)
          try {
            for (; free < 4096; free++) used.push(openSync('/dev/null', 'r'))
          } catch (error) {
            if (error.code !== 'EMFILE') throw error
          }
        }
        codes.push([code, descriptors[0], free])
        for (const fd of used) closeSync(fd)
      }
      console.log(JSON.stringify(codes))`,
      ['sh', '-c', 'ulimit -n 256 && exec "$@"', 'sh'],
    )
    expect(result).toEqual([
      ['EMFILE', 0, 0],
      ['EMFILE', 0, 1],
      ['EMFILE', 0, 2],
    ])
  }, 120_000)
})

describe.skipIf(!isBuilt)(`poll${skipped}`, () => {
  test('returns a bit for each descriptor that is ready', () => {
    using one = socketPair()
    using two = socketPair()
    const event = sockets.eventfd()
    const all = Int32Array.of(one.server, -1, two.server, event, two.client)
    expect(sockets.poll(all, 0)).toBe(0)
    sockets.send(two.client, text('x'), undefined, SECONDS)
    expect(sockets.poll(all, 10 * SECONDS)).toBe(0b00100)
    writeFileSync(event, new Uint8Array(new BigUint64Array([1n]).buffer))
    expect(sockets.poll(all, 10 * SECONDS)).toBe(0b01100)
    one.close('client')
    expect(sockets.poll(all, 10 * SECONDS)).toBe(0b01101)
    closeSync(event)
  })

  test('supports 31 descriptors, and rejects 32', () => {
    using pair = socketPair()
    const many = new Int32Array(31).fill(-1)
    many[30] = pair.server
    sockets.send(pair.client, text('x'), undefined, SECONDS)
    expect(sockets.poll(many, 0)).toBe(2 ** 30)
    expect(() => sockets.poll(new Int32Array(32).fill(-1), 0)).toThrow(
      new RangeError('descriptors: expected at most 31 elements, got 32'),
    )
  })

  test('ends at its timeout and not before, also without descriptors', () => {
    using pair = socketPair()
    for (const descriptors of [Int32Array.of(pair.server), new Int32Array(0), Int32Array.of(-1)]) {
      const from = process.hrtime.bigint()
      expect(sockets.poll(descriptors, 1_500_001)).toBe(0)
      expect(process.hrtime.bigint() - from).toBeGreaterThanOrEqual(1_500_001n)
    }
  })

  test('is not ended by a signal', async () => {
    const code = `
      process.on('SIGUSR2', () => undefined)
      const { spawn } = await import('node:child_process')
      const kill = 'for i in 1 2 3 4 5 6 7 8; do kill -USR2 ' + process.pid + '; sleep 0.02; done'
      spawn('sh', ['-c', kill], { stdio: 'ignore' })
      const from = process.hrtime.bigint()
      const ready = host.poll(Int32Array.of(-1), 400e6)
      console.log(JSON.stringify([ready, process.hrtime.bigint() - from >= 400_000_000n]))
      process.exit(0)`
    expect(await run(code)).toEqual([0, true])
  }, 120_000)

  test('rejects invalid descriptors and infinite timeouts', () => {
    using file = scratchFile(new Uint8Array(1))
    const closed = openSync(file.path, 'r')
    closeSync(closed)
    expect(() => sockets.poll(Int32Array.of(closed), SECONDS)).toThrow(
      expect.objectContaining({ code: 'EBADF', errno: -9, syscall: 'poll' }),
    )
    expect(() => sockets.poll(new Int32Array(0), Infinity)).toThrow(RangeError)
    expect(() => sockets.poll(new Int32Array(0), NaN)).toThrow(RangeError)
    expect(() => sockets.poll([0] as unknown as Int32Array, 0)).toThrow(
      new TypeError('descriptors: expected an Int32Array, got an object'),
    )
  })
})

describe.skipIf(!isBuilt)(`descriptors of sockets${skipped}`, () => {
  test('are all closed after two hundred connections that passed descriptors', () => {
    const before = openDescriptors()
    for (let round = 0; round < 200; round++) {
      using pair = socketPair()
      sockets.send(pair.client, text('x'), Int32Array.of(pair.client, pair.server), SECONDS)
      const [, ...received] = receiveText(pair.server)
      for (const fd of received) closeSync(fd)
    }
    expect(openDescriptors()).toBe(before)
  })

  test('that were not received are closed with the socket', () => {
    const before = openDescriptors()
    {
      using pair = socketPair()
      sockets.send(pair.client, text('x'), Int32Array.of(pair.client), SECONDS)
    }
    expect(openDescriptors()).toBe(before)
  })
})

describe.skipIf(!isBuilt)(`the module of a server's thread${skipped}`, () => {
  test('exports all functions by default, with the same sockets and memory', async () => {
    const { default: host } = (await import(nativeHostModule.href)) as { default: VfioUserHost }
    using folder = socketFolder()
    using file = scratchFile(new Uint8Array(4096).fill(7))
    const path = join(folder.path, 'socket')
    const listener = host.listen(path)
    const client = host.connect(path)
    expect(host.poll(Int32Array.of(client, listener), 10 * SECONDS)).toBe(2)
    const server = host.accept(listener)!
    const event = host.eventfd()
    host.send(client, text('file'), Int32Array.of(file.fd, event), SECONDS)
    const descriptors = none()
    expect(host.receive(server, new Uint8Array(8), descriptors)).toBe(4)
    expect(descriptors[0]).toBe(2)
    const region = host.mapForeign(descriptors[1]!, 0, 4096, 'read')
    expect(new Uint8Array(host.view(region.address, 4))).toEqual(Uint8Array.of(7, 7, 7, 7))
    host.yield()
    region.unmap()
    for (const fd of [listener, client, server, event, descriptors[1]!, descriptors[2]!]) closeSync(fd)
  })

  test('waits for an eventfd in a client beside other work', async () => {
    const event = sockets.eventfd()
    const waits = sockets.waitReadable(event, 60 * SECONDS)
    writeFileSync(event, new Uint8Array(new BigUint64Array([1n]).buffer))
    expect(await waits).toBe(true)
    closeSync(event)
  })
})
