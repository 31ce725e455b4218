import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import {
  closeSync,
  constants,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type {
  Bar,
  Clock,
  ConfigSpace,
  DmaAllocator,
  DmaMemory,
  Interrupts,
  Transport,
} from '@gpunvme/nvme-spec/transport'

const PROGRAM = 'qemu-system-x86_64'

/** Why QEMU cannot be used here; undefined where it can. */
export const qemuMissing = spawnSync(PROGRAM, ['--version']).error ? `[qemu] ${PROGRAM} is not installed` : undefined

const RAM_BYTES = 512 * 1024 * 1024
const PAGE_BYTES = 4096
/** Where MSI-X messages arrive, a dword a vector. Guest RAM below is not ordinary memory throughout; above, file offset equals guest address. */
const MAILBOXES = 16 * 1024 * 1024
const FIRST_FREE = MAILBOXES + PAGE_BYTES
const BAR0 = 0xe000_0000
const NVME_SLOT = 4
const ANSWER_MS = 10_000
/** Of QEMU's nvme device: where its MSI-X capability and table are, and how many vectors it has. */
const MSIX = { capability: 0x40, table: 0x2000, vectors: 65 }

export interface QemuOptions {
  /** Properties of the nvme device; its drive is `d0`. */
  readonly device?: string
  /** A whole -drive for `d0`, in place of a raw image of `imageBytes`. */
  readonly drive?: (image: string) => string
  readonly imageBytes?: number
  /** More devices and drives. */
  readonly more?: readonly string[]
}

/**
 * QEMU's own NVMe controller without a guest: its processor is stopped, and the test machine is driven over two FIFOs
 * with one line a register access. Guest RAM is a file, so what the controller writes there is seen with plain `fs`.
 */
export class Qemu {
  readonly serial = 'QEMU0001'
  readonly folder = mkdtempSync(join(tmpdir(), 'gpunvme-qemu-'))
  readonly image = join(this.folder, 'disk.img')
  readonly transport: Transport
  private readonly process: ChildProcess
  private readonly ram: number
  private readonly requests: number
  private readonly answers: number
  private readonly buffer = Buffer.alloc(4096)
  private readonly pause = new Int32Array(new SharedArrayBuffer(4))
  private unread = ''
  private nextAddress = FIRST_FREE

  constructor({ device = '', drive = rawDrive, imageBytes = 64 * 1024 * 1024, more = [] }: QemuOptions = {}) {
    const [ram, fifo] = ['ram', 'qtest'].map((name) => join(this.folder, name)) as [string, string]
    for (const [path, bytes] of [
      [this.image, imageBytes],
      [ram, RAM_BYTES],
    ] as const) {
      writeFileSync(path, '')
      truncateSync(path, bytes)
    }
    spawnSync('mkfifo', [`${fifo}.in`, `${fifo}.out`])
    // Both ends of each FIFO are opened here first, so that neither side waits for the other to open it.
    this.requests = openSync(`${fifo}.in`, constants.O_RDWR)
    this.answers = openSync(`${fifo}.out`, constants.O_RDWR | constants.O_NONBLOCK)
    this.ram = openSync(ram, 'r+')
    const args = [
      ...['-nodefaults', '-no-user-config', '-display', 'none', '-machine', 'q35,memory-backend=ram', '-m', '512'],
      ...['-object', `memory-backend-file,id=ram,size=${RAM_BYTES},mem-path=${ram},share=on`, '-accel', 'tcg', '-S'],
      ...['-qtest', `pipe:${fifo}`, '-qtest-log', '/dev/null', '-D', this.log],
      // What the host does wrong: ub is "undefined behaviour". A good path leaves nothing here.
      ...['-trace', 'pci_nvme_ub_*', '-trace', 'pci_nvme_err_*'],
      ...[
        '-drive',
        drive(this.image),
        '-device',
        `nvme,id=nvme0,addr=${NVME_SLOT},serial=${this.serial},drive=d0${device}`,
        ...more,
      ],
    ]
    const complaints = openSync(this.complaints, 'w')
    this.process = spawn(PROGRAM, args, { stdio: ['ignore', 'ignore', complaints] })
    closeSync(complaints)
    const config = this.config()
    // No firmware has run: the BAR is put where we want it, and memory access and bus mastering are switched on.
    config.write(0x10, 4, BAR0)
    config.write(0x14, 4, 0)
    config.write(0x04, 2, 0x6)
    const can = { gpuRing: false, gpuRead: false, dmaToVram: false }
    this.transport = {
      name: 'qemu',
      bar: this.bar(),
      dma: this.dma(),
      clock: this.clock(),
      config,
      interrupts: this.interrupts(config),
      can,
      close: () => Promise.resolve(),
    }
  }

  /** QEMU's list of the host's mistakes. */
  get misuse(): string {
    return readFileSync(this.log, 'utf8')
  }

  /** All memory that was given out is free again; nobody may hold any of it. */
  forgetMemory(): void {
    this.nextAddress = FIRST_FREE
  }

  close(): void {
    this.process.kill('SIGKILL')
    for (const file of [this.requests, this.answers, this.ram]) closeSync(file)
    rmSync(this.folder, { recursive: true })
  }

  private get log(): string {
    return join(this.folder, 'trace.log')
  }

  private get complaints(): string {
    return join(this.folder, 'stderr.log')
  }

  /** Sends one line, and gives the value of its answer. */
  private ask(request: string): bigint {
    writeSync(this.requests, `${request}\n`)
    const deadlineMs = performance.now() + ANSWER_MS
    for (;;) {
      const end = this.unread.indexOf('\n')
      if (end >= 0) {
        const [verdict, value = '0'] = this.unread.slice(0, end).split(' ')
        this.unread = this.unread.slice(end + 1)
        if (verdict === 'OK') return BigInt(value)
        if (verdict === 'FAIL') throw new Error(`QEMU refused: ${request}`)
        continue // an interrupt, which nobody asked for
      }
      if (performance.now() > deadlineMs) {
        const said = readFileSync(this.complaints, 'utf8')
        throw new Error(`QEMU gave no answer in ${ANSWER_MS} ms to: ${request}\n${said}`)
      }
      this.receive()
    }
  }

  private receive(): void {
    try {
      this.unread += this.buffer.toString('latin1', 0, readSync(this.answers, this.buffer))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
      Atomics.wait(this.pause, 0, 0, 0.02)
    }
  }

  private config(): ConfigSpace {
    const select = (offset: number) => {
      this.ask(`outl 0xcf8 ${0x8000_0000 + (NVME_SLOT << 11) + (offset & ~3)}`)
      return 0xcfc + (offset & 3)
    }
    const letter = { 1: 'b', 2: 'w', 4: 'l' } as const
    return {
      read: (offset, width) => Number(this.ask(`in${letter[width]} ${select(offset)}`)),
      write: (offset, width, value) => void this.ask(`out${letter[width]} ${select(offset)} ${value}`),
    }
  }

  /** A vector's message is a store into guest RAM. MSI-X is enabled by the first wait, which the first interrupt must not precede. */
  private interrupts(config: ConfigSpace): Interrupts {
    const mailbox = (vector: number) => MAILBOXES + 4 * vector
    const enable = () => {
      const control = config.read(MSIX.capability + 2, 2)
      if ((control & 0x8000) !== 0) return
      for (let vector = 0; vector < MSIX.vectors; vector++) {
        const entry = BAR0 + MSIX.table + 16 * vector
        for (const [i, value] of [mailbox(vector), 0, 1, 0].entries()) this.ask(`writel ${entry + 4 * i} ${value}`)
      }
      config.write(MSIX.capability + 2, 2, control | 0x8000)
    }
    const take = (vector: number) => {
      const word = Buffer.alloc(4)
      readSync(this.ram, word, 0, 4, mailbox(vector))
      if (word.readUInt32LE() === 0) return false
      writeSync(this.ram, Buffer.alloc(4), 0, 4, mailbox(vector))
      return true
    }
    return {
      vectors: MSIX.vectors,
      wait: async (vector, untilNs) => {
        const { clock } = this.transport
        enable()
        for (;;) {
          if (take(vector)) return 'fired'
          if (clock.now() >= untilNs) return 'deadline'
          await clock.idle(untilNs)
        }
      },
    }
  }

  private bar(): Bar {
    const write32 = (offset: number, value: number) => void this.ask(`writel ${BAR0 + offset} ${value}`)
    return {
      lengthBytes: 0x4000,
      read32: (offset) => Number(this.ask(`readl ${BAR0 + offset}`)),
      read64: (offset) => this.ask(`readq ${BAR0 + offset}`),
      write32,
      write64(offset, value) {
        write32(offset, Number(value & 0xffff_ffffn))
        write32(offset + 4, Number(value >> 32n))
      },
    }
  }

  /** Memory is a copy of a part of the file: `forDevice` and `forHost` carry bytes across, as on a machine that is not coherent. */
  private dma(): DmaAllocator {
    return {
      alloc: (lengthBytes, { alignBytes = PAGE_BYTES } = {}): DmaMemory => {
        const iova = Math.ceil(this.nextAddress / alignBytes) * alignBytes
        this.nextAddress = iova + Math.ceil(lengthBytes / PAGE_BYTES) * PAGE_BYTES
        if (this.nextAddress > RAM_BYTES) throw new RangeError('the guest has no more memory')
        const bytes = new Uint8Array(lengthBytes)
        writeSync(this.ram, bytes, 0, lengthBytes, iova)
        return {
          lengthBytes,
          view: new DataView(bytes.buffer),
          segments: [{ offsetBytes: 0, iova, lengthBytes }],
          iovaAt: (offset) => iova + offset,
          forDevice: (offset, length) => void writeSync(this.ram, bytes, offset, length, iova + offset),
          forHost: (offset, length) => void readSync(this.ram, bytes, offset, length, iova + offset),
          free: () => undefined,
        }
      },
    }
  }

  /** A doorbell is acted upon some time after its write was answered; each access turns QEMU's main loop. */
  private clock(): Clock {
    return {
      now: () => Math.round(performance.now() * 1e6),
      idle: async () => {
        this.ask(`readl ${BAR0 + 0x1c}`)
        await new Promise(setImmediate)
      },
    }
  }
}

function rawDrive(image: string): string {
  return `file=${image},format=raw,if=none,id=d0`
}
