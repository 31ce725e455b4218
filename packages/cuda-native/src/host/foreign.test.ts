import { constants } from 'node:buffer'
import { once } from 'node:events'
import { closeSync, ftruncateSync, openSync, readFileSync, readSync, statSync, truncateSync, writeSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { nativeHostModule } from '@gpunvme/cuda-native/host'
import { describe, expect, test } from 'vitest'
import { endOf, endOfModule, run } from '../../test/child.js'
import { isMapped } from '../../test/mappings.js'
import { isBuilt, native, skipped, sockets } from '../../test/native.js'
import { scratchFile } from '../../test/scratch-file.js'
import { openDescriptors } from '../../test/socket-pair.js'

const PAGE = 4096
const GIB = 2 ** 30

/** Returns pages, each filled with its number, from 1. */
const numbered = (pages: number) => new Uint8Array(pages * PAGE).map((_, index) => Math.floor(index / PAGE) + 1)

describe.skipIf(!isBuilt)(`mapForeign${skipped}`, () => {
  test('shares memory with the file in both directions, like map', () => {
    using file = scratchFile(numbered(3))
    const region = sockets.mapForeign(file.fd, PAGE, 2 * PAGE, 'read-write')
    expect(region.lengthBytes).toBe(8192)
    expect(region.load32(0)).toBe(0x02020202)
    new DataView(region.buffer).setUint32(PAGE, 0x44332211, true)
    region.store32(PAGE + 4, 0x88776655)
    expect([...readFileSync(file.path).subarray(2 * PAGE, 2 * PAGE + 8)]).toEqual([
      0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88,
    ])
    writeSync(file.fd, Uint8Array.of(9), 0, 1, PAGE)
    expect(new Uint8Array(sockets.view(region.address, 4))[0]).toBe(9)
    const { address, buffer } = region
    region.unmap()
    expect([buffer.byteLength, isMapped(address)]).toEqual([0, false])
    expect(() => region.load32(0)).toThrow(/was unmapped/)
  })

  test.each(['read', 'read-write'] as const)(
    'truncated pages read as zeros, and stores to them are lost (%s)',
    (access) => {
      using file = scratchFile(numbered(4))
      const region = sockets.mapForeign(file.fd, 0, 4 * PAGE, access)
      const bytes = new Uint8Array(region.buffer)
      expect(bytes[3 * PAGE]).toBe(4)
      // In the second page, whose remaining bytes the kernel keeps.
      ftruncateSync(file.fd, PAGE + 16)
      expect([bytes[0], bytes[PAGE], bytes[PAGE + 15], bytes[PAGE + 16]]).toEqual([1, 2, 2, 0])
      expect(bytes.subarray(2 * PAGE).every((byte) => byte === 0)).toBe(true)
      expect([region.load32(2 * PAGE), region.load64(3 * PAGE)]).toEqual([0, 0n])
      bytes[2 * PAGE] = 7
      expect(statSync(file.path).size).toBe(4112)
      writeSync(file.fd, Uint8Array.of(8), 0, 1, 0)
      expect(bytes[0]).toBe(8)
      region.unmap()
    },
  )

  test('survives a store as the first access to a truncated page', () => {
    using file = scratchFile(numbered(4))
    const region = sockets.mapForeign(file.fd, 0, 4 * PAGE, 'read-write')
    const bytes = new Uint8Array(region.buffer)
    ftruncateSync(file.fd, 0)
    region.store32(PAGE, 5)
    new DataView(region.buffer).setBigUint64(2 * PAGE - 4, -1n, true)
    bytes.copyWithin(3 * PAGE - 8, 0, 16)
    bytes.fill(0xa5, 100, 200)
    expect(region.load32(PAGE)).toBe(5)
    expect(readFileSync(file.path)).toHaveLength(0)
    region.unmap()
  })

  test('keeps replaced pages when the file grows again; other pages show the file', () => {
    using file = scratchFile(numbered(3))
    const region = sockets.mapForeign(file.fd, 0, 3 * PAGE, 'read-write')
    ftruncateSync(file.fd, 0)
    expect(region.load32(PAGE)).toBe(0)
    writeSync(file.fd, numbered(3), 0, 3 * PAGE, 0)
    expect([0, PAGE, 2 * PAGE].map((at) => region.load32(at))).toEqual([0x01010101, 0, 0x03030303])
    region.store32(PAGE, 7)
    region.store32(0, 7)
    expect([...readFileSync(file.path)].filter((_, index) => index % PAGE === 0)).toEqual([7, 2, 3])
    region.unmap()
  })

  test('survives a file that another process truncates and another thread extends repeatedly', async () => {
    const code = `
      import { spawn } from 'node:child_process'
      import { mkdtempSync, openSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
      import { Worker } from 'node:worker_threads'
      const folder = mkdtempSync('/tmp/gpunvme-'), path = folder + '/file'
      const length = 64 * 4096
      writeFileSync(path, new Uint8Array(length).fill(1))
      const fd = openSync(path, 'r+')
      const shell = 'i=0; while [ $i -lt 300 ]; do truncate -s 0 "$1"; i=$((i+1)); done'
      const cutter = spawn('sh', ['-c', shell, 'sh', path], { stdio: 'inherit' })
      const grow = 'const { workerData, parentPort } = require("node:worker_threads");' +
        'const { ftruncateSync } = require("node:fs");' +
        'for (let i = 0; i < 30000; i++) ftruncateSync(workerData.fd, i % 8 === 0 ? 0 : workerData.length)'
      const grower = new Worker(grow, { eval: true, workerData: { fd, length }, execArgv: [] })
      let ended = 0
      cutter.on('close', () => ended++)
      grower.on('exit', () => ended++)
      let rounds = 0, zeroes = 0
      while (ended < 2) {
        for (let i = 0; i < 20; i++) {
          truncateSync(path, length)
          // The file may already be shorter, which is expected.
          let region
          try {
            region = host.mapForeign(fd, 0, length, i % 2 === 0 ? 'read' : 'read-write')
          } catch (error) {
            if (error instanceof RangeError) continue
            throw error
          }
          const bytes = new Uint8Array(region.buffer)
          for (let at = 0; at < length; at += 1024) {
            if (bytes[at] === 0) zeroes++
            bytes[at] = 3
          }
          region.unmap()
          rounds++
        }
        await new Promise((resolve) => setImmediate(resolve))
      }
      rmSync(folder, { recursive: true })
      console.log(JSON.stringify([rounds > 0, zeroes > 0]))`
    expect(await run(code)).toEqual([true, true])
  }, 120_000)

  test('survives concurrent access to the same truncated pages by several threads', async () => {
    const code = `
      import { mkdtempSync, openSync, ftruncateSync, rmSync } from 'node:fs'
      import { once } from 'node:events'
      import { Worker } from 'node:worker_threads'
      import { nativeHostModule } from '@gpunvme/cuda-native/host'
      const folder = mkdtempSync('/tmp/gpunvme-')
      const fd = openSync(folder + '/file', 'w+')
      const length = 2000 * 4096
      const touch = 'const { workerData: data, parentPort: port } = require("node:worker_threads");' +
        'import(data.module).then(({ loadSocketHost }) => {' +
        '  const host = loadSocketHost();' +
        '  port.on("message", (address) => {' +
        '    if (address === undefined) return port.close();' +
        '    const bytes = new Uint8Array(host.view(address, data.length));' +
        '    let sum = 0;' +
        '    for (let at = 0; at < data.length; at += 4096) { sum += bytes[at]; bytes[at + 1] = 1 }' +
        '    port.postMessage(sum)' +
        '  })' +
        '})'
      const workerData = { module: nativeHostModule.href, length }
      const workers = [1, 2, 3, 4].map(() => new Worker(touch, { eval: true, workerData, execArgv: [] }))
      let sum = 0
      for (let round = 0; round < 10; round++) {
        ftruncateSync(fd, length)
        const region = host.mapForeign(fd, 0, length, 'read-write')
        ftruncateSync(fd, 0)
        for (const worker of workers) worker.postMessage(region.address)
        const all = await Promise.all(workers.map((worker) => once(worker, 'message')))
        for (const [each] of all) sum += each
        region.unmap()
      }
      for (const worker of workers) worker.postMessage(undefined)
      rmSync(folder, { recursive: true })
      console.log(JSON.stringify(sum))`
    expect(await run(code)).toBe(0)
  }, 120_000)

  test('guards a mapping of another thread as long as a view of it exists', async () => {
    using file = scratchFile(numbered(2))
    const code = `
      const { parentPort: port, workerData: data } = require('node:worker_threads')
      import(data.module).then(({ loadSocketHost }) => {
        const region = loadSocketHost().mapForeign(data.fd, 0, ${2 * PAGE}, 'read-write')
        port.on('message', () => undefined)
        port.postMessage(region.address)
      })`
    const workerData = { module: nativeHostModule.href, fd: file.fd }
    const worker = new Worker(code, { eval: true, workerData, execArgv: [] })
    const [address] = (await once(worker, 'message')) as [bigint]
    const bytes = new Uint8Array(sockets.view(address, 2 * PAGE))
    await worker.terminate()
    expect(() => sockets.view(address, PAGE)).toThrow(RangeError)
    ftruncateSync(file.fd, PAGE)
    expect([bytes[0], bytes[PAGE]]).toEqual([1, 0])
  }, 120_000)

  test('does not exhaust the mappings of the process on a large truncated file', () => {
    using file = scratchFile(new Uint8Array(0))
    const length = 4000 * PAGE
    ftruncateSync(file.fd, length)
    const before = mappings()
    const region = sockets.mapForeign(file.fd, 0, length, 'read-write')
    ftruncateSync(file.fd, 0)
    for (let at = PAGE; at < length; at += 2 * PAGE) expect(region.load32(at)).toBe(0)
    expect(mappings() - before).toBeLessThan(600)
    region.unmap()
    expect(mappings() - before).toBeLessThan(100)
  })

  test('counts replaced pages, and all following pages after many', () => {
    using file = scratchFile(new Uint8Array(0))
    const pages = 1000
    ftruncateSync(file.fd, pages * PAGE)
    const region = sockets.mapForeign(file.fd, 0, pages * PAGE, 'read-write')
    const before = sockets.lostForeignBytes()
    for (let page = 0; page < pages; page++) region.load32(page * PAGE)
    expect(sockets.lostForeignBytes()).toBe(before)
    ftruncateSync(file.fd, PAGE)
    expect(sockets.lostForeignBytes()).toBe(before)
    for (const page of [0, 1, 7, 7, 1]) region.load32(page * PAGE)
    expect(sockets.lostForeignBytes() - before).toBe(2 * PAGE)
    for (let page = 0; page < pages; page++) region.load32(page * PAGE)
    expect(sockets.lostForeignBytes() - before).toBe(999 * PAGE)
    region.unmap()
    expect(sockets.lostForeignBytes() - before).toBe(999 * PAGE)
  })

  test('replaces pages of the truncated file only, not of another file', () => {
    using one = scratchFile(numbered(8))
    using two = scratchFile(numbered(8))
    const regions = [one, two, one, two].map(({ fd }) => sockets.mapForeign(fd, 0, 8 * PAGE, 'read-write'))
    ftruncateSync(one.fd, 0)
    for (const page of [7, 0, 3]) {
      expect(regions.map((region) => region.load32(page * PAGE))).toEqual(
        [0, page + 1, 0, page + 1].map((byte) => byte * 0x01010101),
      )
    }
    for (const region of regions) region.unmap()
  })

  test('lets JavaScript store to a private copy of a read-only mapping; other pages show the file', () => {
    using file = scratchFile(numbered(2), 'r')
    const region = sockets.mapForeign(file.fd, 0, 2 * PAGE, 'read')
    const bytes = new Uint8Array(region.buffer)
    bytes[0] = 0xee
    new Uint8Array(sockets.view(region.address, 4))[1] = 0xdd
    expect(region.load32(0)).toBe(0x0101ddee)
    expect(readFileSync(file.path)[0]).toBe(1)
    overwrite(file.path, Uint8Array.of(0x33, 0x33, 0x33, 0x33), 0)
    overwrite(file.path, Uint8Array.of(0x44, 0x44, 0x44, 0x44), PAGE)
    expect([region.load32(0), region.load32(PAGE)]).toEqual([0x0101ddee, 0x44444444])
    const refusal = /expected a region mapped 'read-write', got one mapped 'read'/
    expect(() => region.store32(0, 1)).toThrow(refusal)
    expect(() => region.store64(0, 1n)).toThrow(refusal)
    region.unmap()
  })

  test('rejects a writable mapping of a file opened for reading', () => {
    using file = scratchFile(numbered(1), 'r')
    expect(() => sockets.mapForeign(file.fd, 0, PAGE, 'read-write')).toThrow(
      expect.objectContaining({ code: 'EACCES', errno: -13, syscall: 'mmap' }),
    )
  })

  test('rejects ranges beyond the file, and files that cannot be mapped', () => {
    using file = scratchFile(new Uint8Array(PAGE + 100))
    expect(() => sockets.mapForeign(file.fd, 0, PAGE + 101, 'read')).toThrow(
      new RangeError('lengthBytes: expected no more than the 4196 bytes of the file from byte 0 on, got 4197'),
    )
    expect(() => sockets.mapForeign(file.fd, 2 * PAGE, 1, 'read-write')).toThrow(RangeError)
    expect(() => sockets.mapForeign(file.fd, 512, 8, 'read')).toThrow(
      new RangeError('offsetBytes: expected a multiple of 4096, got 512'),
    )
    expect(() => sockets.mapForeign(file.fd, 0, 8, 'write' as 'read')).toThrow(
      new TypeError(`access: expected 'read' or 'read-write', got "write"`),
    )
    const event = sockets.eventfd()
    expect(() => sockets.mapForeign(event, 0, PAGE, 'read-write')).toThrow(
      expect.objectContaining({ code: 'ENODEV', syscall: 'mmap' }),
    )
    closeSync(event)
  })

  test('maps more than an ArrayBuffer can hold, accessible by views of parts', () => {
    using file = scratchFile(new Uint8Array(0))
    const length = 4 * GIB + PAGE
    truncateSync(file.path, length)
    const region = sockets.mapForeign(file.fd, 0, length, 'read-write')
    const last = new Uint8Array(sockets.view(region.address + BigInt(4 * GIB), PAGE))
    last[PAGE - 1] = 0x5a
    const read = new Uint8Array(1)
    readSync(file.fd, read, 0, 1, length - 1)
    expect(read[0]).toBe(0x5a)
    // The limit is 4 GiB in Node.js 20; later versions have none.
    if (constants.MAX_LENGTH < length) {
      const tooLong = new RangeError(
        'lengthBytes: expected at most 4294967296, the limit of an ArrayBuffer in this Node.js, got 4294971392',
      )
      expect(() => region.buffer).toThrow(tooLong)
      expect(() => sockets.view(region.address, length)).toThrow(tooLong)
      expect(() => native.view(region.address, length)).toThrow(tooLong)
    } else {
      expect(region.buffer.byteLength).toBe(length)
    }
    region.unmap()
  })

  test('system calls on truncated pages fail with EFAULT', () => {
    using file = scratchFile(numbered(2))
    using source = scratchFile(numbered(2))
    const region = sockets.mapForeign(file.fd, 0, 2 * PAGE, 'read-write')
    const bytes = new Uint8Array(region.buffer)
    ftruncateSync(file.fd, 0)
    expect(() => readSync(source.fd, bytes, 0, PAGE, 0)).toThrow(expect.objectContaining({ code: 'EFAULT' }))
    expect(() => writeSync(source.fd, bytes, 0, PAGE, 0)).toThrow(expect.objectContaining({ code: 'EFAULT' }))
    expect(bytes[0]).toBe(0)
    expect(readSync(source.fd, bytes, 0, PAGE, PAGE)).toBe(4096)
    expect(bytes[0]).toBe(2)
    region.unmap()
  })

  test('leaves no mapping and no descriptor after two thousand truncated mappings', () => {
    using file = scratchFile(new Uint8Array(0))
    const [mapped, open] = [mappings(), openDescriptors()]
    for (let round = 0; round < 2000; round++) {
      ftruncateSync(file.fd, 4 * PAGE)
      const region = sockets.mapForeign(file.fd, 0, 4 * PAGE, round % 2 === 0 ? 'read' : 'read-write')
      ftruncateSync(file.fd, PAGE)
      expect(region.load32(2 * PAGE)).toBe(0)
      region.unmap()
    }
    expect(mappings() - mapped).toBeLessThan(100)
    expect(openDescriptors()).toBe(open)
  })
})

describe.skipIf(!isBuilt)(`SIGBUS outside a foreign mapping${skipped}`, () => {
  /** A working foreign mapping, and a plain mapping whose truncation is not repaired. */
  const both = `
    import { closeSync, ftruncateSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
    const folder = mkdtempSync('/tmp/gpunvme-')
    const open = (name) => { writeFileSync(folder + name, new Uint8Array(8192)); return openSync(folder + name, 'r+') }
    const fd = open('/foreign'), ownFd = open('/own')
    rmSync(folder, { recursive: true })
    const own = hardware.map(ownFd, 0, 8192, 'read-write')
    const repaired = () => {
      const foreign = host.mapForeign(fd, 0, 8192, 'read-write')
      ftruncateSync(fd, 0)
      foreign.store32(4096, 1)
      return foreign.load32(0)
    }`

  test('from another truncated file ends the process, as without the addon', async () => {
    const code = `${both}
      console.log(repaired())
      ftruncateSync(ownFd, 0)
      console.log(own.load32(0))`
    expect(await endOf(code)).toEqual({ status: null, signal: 'SIGBUS', output: '0\n' })
  }, 120_000)

  test('that is sent with kill ends the process, as without the addon', async () => {
    const code = `${both}
      console.log(repaired())
      process.kill(process.pid, 'SIGBUS')
      setTimeout(() => console.log('still there'), 50_000)`
    expect(await endOf(code)).toEqual({ status: null, signal: 'SIGBUS', output: '0\n' })
  }, 120_000)

  test('that is sent with kill reaches an earlier listener', async () => {
    const code = `${both}
      process.on('SIGBUS', (name) => {
        console.log(name)
        process.exit(0)
      })
      console.log(repaired())
      process.kill(process.pid, 'SIGBUS')
      setTimeout(() => console.log('never heard'), 50_000)`
    expect(await endOf(code)).toEqual({ status: 0, signal: null, output: '0\nSIGBUS\n' })
  }, 120_000)

  test('keeps its handler after the removal of a listener: the next mapping reinstalls the handler', async () => {
    const code = `${both}
      process.once('SIGBUS', () => {
        ftruncateSync(fd, 8192)
        console.log(repaired() + 1)
        clearInterval(alive)
      })
      console.log(repaired())
      const alive = setInterval(() => undefined, 1000)
      process.kill(process.pid, 'SIGBUS')`
    expect(await endOf(code)).toEqual({ status: 0, signal: null, output: '0\n1\n' })
  }, 120_000)

  test('still has its handler when the only thread that loaded the addon has ended', async () => {
    const script = `
      import { Worker } from 'node:worker_threads'
      const work = \`
        const { ftruncateSync, openSync, unlinkSync } = require('node:fs')
        import('@gpunvme/cuda-native/host').then(({ loadSocketHost }) => {
          const path = '/tmp/gpunvme-' + process.pid
          const fd = openSync(path, 'w+')
          unlinkSync(path)
          ftruncateSync(fd, 4096)
          const region = loadSocketHost().mapForeign(fd, 0, 4096, 'read-write')
          ftruncateSync(fd, 0)
          console.log(region.load32(0))
        })\`
      new Worker(work, { eval: true, execArgv: [] }).on('exit', (status) => {
        console.log(status)
        setImmediate(() => process.kill(process.pid, 'SIGBUS'))
        setTimeout(() => undefined, 50_000)
      })`
    expect(await endOfModule(script)).toEqual({ status: null, signal: 'SIGBUS', output: '0\n0\n' })
  }, 120_000)
})

const mappings = () => readFileSync('/proc/self/maps', 'utf8').split('\n').length

function overwrite(path: string, bytes: Uint8Array, at: number): void {
  const fd = openSync(path, 'r+')
  writeSync(fd, bytes, 0, bytes.length, at)
  closeSync(fd)
}
