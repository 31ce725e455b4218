import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { nativeHostModule } from '@gpunvme/cuda-native/host'
import type { Diagnostic } from '@gpunvme/nvme-sim'
import { startVfioUserServer } from '@gpunvme/nvme-sim/vfio-user'
import { vfioUserQemu } from './vfio-user/qemu.js'

// QEMU's firmware, SeaBIOS, has its own NVMe driver. It boots from a simulated drive here.

const BLOCK = 512
const SOURCE = join(import.meta.dirname, 'vfio-user/firmware/boot-sector.S')

/** Returns the bytes of the boot sector, or a reason if there is no assembler. */
function bootSector(folder: string): Buffer | string {
  const [object, binary] = [join(folder, 'boot.o'), join(folder, 'boot.bin')]
  const steps = [
    ['as', '--32', '-o', object, SOURCE],
    ['ld', '-m', 'elf_i386', '-Ttext', '0x7c00', '--oformat', 'binary', '-o', binary, object],
  ] as const
  for (const [program, ...args] of steps) {
    const { error, status, stderr } = spawnSync(program, args, { encoding: 'utf8' })
    if (error) return `[native] ${program} is not here: ${error.message}`
    if (status !== 0) throw new Error(`${program}: ${stderr}`)
  }
  return readFileSync(binary)
}

const folder = mkdtempSync(join(tmpdir(), 'gpunvme-firmware-'))
afterAll(() => rmSync(folder, { recursive: true }))
const qemu = vfioUserQemu()
const sector = bootSector(folder)
const missing = typeof qemu === 'string' ? qemu : typeof sector === 'string' ? sector : undefined

/** Runs QEMU until its guest ends it. Returns its exit code and the output of COM1. */
async function boot(args: readonly string[]): Promise<{ readonly code: number | null; readonly said: string }> {
  if (typeof qemu === 'string') throw new Error(qemu)
  const child = spawn(qemu.program, [...qemu.arguments, ...args], {
    ...{ stdio: ['ignore', 'pipe', 'pipe'], timeout: 180_000, killSignal: 'SIGKILL' },
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (said += text.toString()))
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', resolve)
  })
  return { code, said }
}

describe('SeaBIOS', () => {
  if (missing !== undefined) {
    test('SeaBIOS on a simulated drive', ({ skip }) => skip(missing))
    return
  }
  const image = join(folder, 'disk.img')
  const blocks = Buffer.alloc(64 * BLOCK, 'every block is another. ')
  let booted: Awaited<ReturnType<typeof boot>>
  let statistics: { readonly ioCommands: Readonly<Record<number, number>> }
  let diagnostics: readonly Diagnostic[]

  beforeAll(async () => {
    for (let i = 0; i < 64; i++) blocks.writeUInt32LE(i, i * BLOCK)
    const disk = Buffer.alloc(2048 * BLOCK)
    disk.set(sector as Buffer)
    disk.set(blocks, BLOCK)
    writeFileSync(image, disk)
    const server = await startVfioUserServer({
      ...{ socket: join(folder, 'socket'), module: nativeHostModule, namespaces: [{ file: { path: image } }] },
    })
    try {
      const drive = { driver: 'vfio-user-pci', bootindex: 1, socket: { type: 'unix', path: server.socket } }
      booted = await boot([
        ...['-nodefaults', '-no-user-config', '-display', 'none', '-accel', 'tcg', '-serial', 'stdio', '-m', '64M'],
        ...['-object', 'memory-backend-memfd,id=memory,size=64M,share=on', '-machine', 'q35,memory-backend=memory'],
        ...['-device', 'isa-debug-exit,iobase=0xf4,iosize=0x04', '-device', JSON.stringify(drive)],
      ])
      statistics = await server.statistics()
      diagnostics = await server.diagnostics()
    } finally {
      await server.close()
    }
  })

  test('SeaBIOS boots from a simulated drive', () => {
    expect(booted.said).toContain('started from the drive, 64 blocks copied\r\n')
    // isa-debug-exit exits with twice the written value, plus 1.
    expect(booted.code).toBe(1)
  })

  test('SeaBIOS reads and writes the blocks that the boot program requests', () => {
    const copied = readFileSync(image).subarray(1000 * BLOCK, 1064 * BLOCK)
    expect(copied.equals(blocks.map((byte) => ~byte))).toBe(true)
    expect(statistics.ioCommands[1]).toBeGreaterThanOrEqual(1)
    expect(statistics.ioCommands[2]).toBeGreaterThanOrEqual(2)
  })

  test('the simulator reports no mistakes of SeaBIOS', () => {
    expect(diagnostics).toEqual([])
  })
})
