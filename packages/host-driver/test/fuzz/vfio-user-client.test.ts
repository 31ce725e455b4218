import { closeSync } from 'node:fs'
import { endingOf, fuzzer, testFuzzer } from '../../../../test/fuzz/fuzz.js'
import { mutate, type Dice } from '../../../../test/fuzz/mutator.js'
import { openVfioUser } from '../../src/transport/vfio-user/index.js'
import { FakeSysfs } from '../fake-sysfs.js'
import { FakeTarget, socketOf, strayDescriptor } from '../fake-vfio-user.js'

/** A target with some messages to the client changed, lost, duplicated or preceded by other messages. */
class HostileTarget extends FakeTarget {
  private readonly dice: Dice
  private readonly sysfs: FakeSysfs
  /** Numbers of the messages to alter: few, so that the client makes progress. */
  private readonly hostile: ReadonlySet<number>
  private messages = 0

  constructor(sys: FakeSysfs, dice: Dice) {
    super(sys, { doorbells: dice.chance(0.5) })
    this.dice = dice
    this.sysfs = sys
    this.hostile = new Set(Array.from({ length: dice.int(1, 3) }, () => dice.int(0, dice.pick([10, 100, 200]))))
  }

  override say(...[header, data = new Uint8Array(0), descriptors = []]: Parameters<FakeTarget['say']>): void {
    if (this.hostile.has(this.messages++)) this.sayWrong(header, data, descriptors)
    else super.say(header, data, descriptors)
  }

  private sayWrong(header: Parameters<FakeTarget['say']>[0], data: Uint8Array, descriptors: readonly number[]): void {
    const { dice } = this
    switch (dice.int(0, 8)) {
      // Nothing, or the end of the connection.
      case 0:
      case 1:
        descriptors.forEach((fd) => closeSync(fd))
        if (dice.chance(0.5)) this.close()
        break
      // Another header: number, command, flags, error, size.
      case 2: {
        const value = dice.pick([0, 1, 2, 15, 16, 17, 0x21, 0xffff, 0xffff_ffff, dice.int(0, 0xffff)])
        const field = dice.pick(['id', 'command', 'flags', 'error', 'size'] as const)
        const isShort = field === 'id' || field === 'command'
        super.say({ ...header, [field]: isShort ? value & 0xffff : value }, data, descriptors)
        break
      }
      // Unexpected descriptors: at most 16, including those of the message.
      case 3: {
        const strays = Array.from({ length: dice.pick([1, 2, 15]) }, () => strayDescriptor(this.sysfs))
        super.say(header, data, [...descriptors, ...strays])
        break
      }
      // A request of the target before the answer.
      case 4:
        super.say({ id: dice.int(0, 99), command: dice.pick([0, 11, 12, 99]), flags: dice.pick([0, 0x10]) }, data)
        super.say(header, data, descriptors)
        break
      // The answer twice.
      case 5:
        super.say(header, data, descriptors)
        super.say(header, data)
        break
      default:
        super.say(header, mutate(data, dice, dice.pick(['bytes', 'fields', 'json'])), descriptors)
    }
  }
}

/** Operations of a driver on a transport, in random order. */
async function use(sys: FakeSysfs, target: HostileTarget, dice: Dice): Promise<void> {
  const options = { host: target, socket: socketOf(sys), memoryFolder: sys.root, interrupts: dice.int(0, 4) }
  const transport = await openVfioUser(options)
  try {
    for (let left = dice.int(1, 12); left > 0; left--) {
      const offset = dice.pick([0, 8, 0x14, 0x1c, 0x24, 0x1000, 0x1008])
      switch (dice.int(0, 6)) {
        case 0:
          transport.bar.read32(offset)
          break
        case 1:
          transport.bar.write32(offset, dice.int(0, 0xffff_ffff))
          break
        case 2:
          transport.bar.read64(0)
          break
        case 3:
          transport.dma.alloc(dice.pick([4096, 100_000, 3_000_000]), { contiguous: true }).free()
          break
        case 4:
          await transport.reset?.('function')
          break
        case 5:
          transport.config?.read(4, 4)
          break
        default:
          await transport.interrupts?.wait(0, 0)
      }
    }
  } finally {
    await transport.close()
  }
}

async function connect(dice: Dice): Promise<string> {
  using sys = new FakeSysfs()
  const target = new HostileTarget(sys, dice)
  const ending = await endingOf(() => use(sys, target, dice))
  target.closeUnread()
  if (target.hardware.live.size > 0) throw new Error(`${ending}: ${target.hardware.live.size} regions stay mapped`)
  const open = sys.openFiles()
  if (open.length > 0) throw new Error(`${ending}: files stay open: ${open.join(', ')}`)
  return ending
}

testFuzzer(fuzzer('vfio-user-client', connect), 300, ['accepted', /VFIO_USER_PROTOCOL/, /VFIO_USER_LOST/])
