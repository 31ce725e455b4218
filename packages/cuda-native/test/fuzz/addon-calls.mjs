// Valid arguments for the functions of gpunvme_host, and the descriptors, regions and engines that they need.
import { closeSync, constants, openSync, rmSync, writeFileSync } from 'node:fs'
import { attachedRig, detachedRig, engineMemory, planOfOneBlock } from './addon-rig.mjs'

/** @typedef {import('./addon-rig.mjs').HostAddon} HostAddon */

const PAGE = 4096
const MS = 1e6
/** Maximum number of open descriptors that calls have opened. */
const MAX_OPENED = 24
const OPENING = ['eventfd', 'listen', 'accept', 'connect']

/**
 * Functions that wait, with the index of their timeout argument in nanoseconds.
 *
 * @type {Readonly<Record<string, number>>}
 */
const waiting = { poll: 1, send: 3, waitReadable: 1 }

/** Objects that the calls of one process use, in the current directory. */
export class World {
  /**
   * @param {HostAddon} addon
   * @param {ReturnType<typeof import('./random.mjs').randomOf>} random
   */
  constructor(addon, random) {
    this.addon = addon
    this.random = random
    /** @type {number[]} */
    this.descriptors = []
    /** @type {number[]} */
    this.opened = []
    /** @type {import('../../src/host/addon.js').RegionHandle[]} */
    this.regions = []
    /** @type {import('./addon-rig.mjs').EngineMemory[]} */
    this.memories = []
    /** @type {import('./addon-rig.mjs').AddonRig[]} */
    this.rigs = []
    writeFileSync('memory', new Uint8Array(4 * PAGE))
    // No call unmaps it.
    this.kept = addon.allocate(PAGE, PAGE)
    this.listener = this.socket = this.accepted = this.eventfd = -1
    this.renew()
    // This starts a thread, whose descriptors are then older than those that calls open.
    void addon.waitReadable(this.socket, 0)
  }

  /** Closes all objects, which calls may have left in any state, and creates new ones. */
  renew() {
    this.end()
    const { addon } = this
    rmSync('listener', { force: true })
    rmSync('socket', { force: true })
    this.listener = addon.listen('listener')
    this.socket = addon.connect('listener')
    this.accepted = addon.accept(this.listener)
    this.eventfd = addon.eventfd()
    this.file = openSync('memory', 'r+')
    this.descriptors = [
      ...[this.file, openSync('memory', 'r'), openSync('.', 'r'), openSync('/dev/null', 'r+')],
      ...[openSync('/dev/ptmx', constants.O_RDWR | constants.O_NOCTTY), this.eventfd],
      ...[this.listener, this.socket, this.accepted],
    ]
    this.regions = [addon.allocate(PAGE, PAGE), addon.map(this.file, 0, PAGE, true)]
    this.memories = [engineMemory(addon), engineMemory(addon)]
    const [first, second] = /** @type {[any, any]} */ (this.memories)
    this.rigs = [attachedRig(first), detachedRig(second)]
  }

  end() {
    const { addon } = this
    for (const { engine } of this.rigs) addon.engineClose(engine)
    for (const { free } of this.memories) free()
    for (const region of this.regions) addon.unmap(region)
    for (const fd of new Set([...this.descriptors, ...this.opened])) this.quietly(() => closeSync(fd))
    this.opened = []
  }

  /** Returns a handle, a descriptor or an address that another argument may accept. */
  known() {
    const { random } = this
    const rig = random.pick(this.rigs)
    const region = random.pick(this.regions)
    return random.pick([
      ...[() => region, () => rig.engine, () => rig.table, () => random.pick(this.descriptors), () => planOfOneBlock()],
      () => random.pick([...this.descriptors, ...this.opened]),
    ])()
  }

  /** @returns {number} */
  descriptor() {
    return this.random.pick(this.descriptors)
  }

  /**
   * Returns arguments that the function accepts; undefined for an unknown function.
   *
   * @param {string} name
   * @returns {unknown[] | undefined}
   */
  validArguments(name) {
    const { addon, random, regions, listener, socket, file } = this
    const rig = random.pick(this.rigs)
    const region = random.pick(regions)
    const length = random.pick([1, 64, PAGE])
    /** @type {Record<string, () => unknown[]>} */
    const valid = {
      ...{ map: () => [file, 0, length, true], mapForeign: () => [file, PAGE, length, random.onceIn(2)] },
      ...{ lostForeignBytes: () => [], allocate: () => [length, PAGE], unmap: () => [addon.allocate(PAGE, PAGE)] },
      ...{ address: () => [region], length: () => [region], buffer: () => [region] },
      view: () => [addon.address(this.kept), length],
      ...{ load32: () => [region, 64], store32: () => [region, 64, 7], load64: () => [region, 64] },
      ...{ store64: () => [region, 64, 7n], yield: () => [], eventfd: () => [], memlockLimitBytes: () => [] },
      // TCGETS, TIOCGWINSZ, FIONREAD, FS_IOC_GETFLAGS, FS_IOC_FIEMAP, VFIO_DEVICE_GET_INFO.
      ioctl: () => [
        this.descriptor(),
        random.pick([0x5401, 0x5413, 0x541b, 0x80086601, 0xc020660b, 0x3b6b]),
        new Uint8Array(random.pick([1, 4, 64])).fill(random.below(256)),
      ],
      ioctlNumber: () => [this.descriptor(), random.pick([0x5401, 0x541b, 0x3b64]), random.pick([0, 64, 65535])],
      ...{ signalEventfd: () => [this.eventfd], drainEventfd: () => [this.eventfd] },
      move: () => [addon.eventfd(), openSync('/dev/null', 'r')],
      waitReadable: () => [this.descriptor(), random.below(MS)],
      ...{ punchHole: () => [file, 0, length], listen: () => ['socket'], accept: () => [listener] },
      connect: () => ['listener'],
      receive: () => [socket, new Uint8Array(64), new Int32Array(17)],
      send: () => [random.pick([socket, this.accepted]), new Uint8Array(64), Int32Array.of(this.descriptor()), 1000],
      poll: () => [Int32Array.of(this.descriptor(), -1), random.below(1000)],
      checksum: () => [
        new DataView(random.pick([new ArrayBuffer(PAGE), new SharedArrayBuffer(PAGE)])),
        ...[0, PAGE, 1024, new Uint32Array(4)],
      ],
      ...{ checksumWay: () => [], viewAddress: () => [new Uint8Array(64)] },
      createEngine: () => [
        { lingerNs: random.below(1000), runLimitNs: 0, clock: 0n, forwardsDoorbells: random.below(2) === 1 },
        () => undefined,
      ],
      engineDescribe: () => [rig.engine, BigUint64Array.of(0x1000n), 63, PAGE],
      engineAttach: () => [rig.engine, rig.attached],
      enginePost: () => [rig.engine, random.below(100), planOfOneBlock(), rig.table],
      ...{ engineCancel: () => [rig.engine, random.below(100)], engineHalt: () => [rig.engine, random.onceIn(2)] },
      ...{ enginePoll: () => [rig.engine], engineLook: () => [rig.engine], engineWatch: () => [rig.engine] },
      ...{ engineHold: () => [rig.engine, false], engineClose: () => [rig.engine] },
      engineDetach: () => {
        // Does not wait for commands in flight.
        this.quietly(() => addon.engineHalt(rig.engine, true))
        return [rig.engine]
      },
    }
    return Object.hasOwn(valid, name) ? valid[name]?.() : undefined
  }

  /** @param {() => unknown} action */
  quietly(action) {
    try {
      action()
    } catch {
      // Closed already.
    }
  }

  /**
   * Calls a function, and tracks or closes the descriptors that it opened.
   *
   * @param {string} name
   * @param {unknown[]} args
   */
  call(name, args) {
    const place = waiting[name]
    if (place !== undefined && /** @type {number} */ (args[place]) > MS) args[place] = MS
    const result = /** @type {any} */ (this.addon)[name](...args)
    if (result instanceof Promise) result.catch(() => undefined)
    if (OPENING.includes(name) && result >= 0) this.opened.push(result)
    if (name === 'move') this.quietly(() => closeSync(result))
    if (name === 'receive' && result > 0 && args[2] instanceof Int32Array) {
      for (const fd of args[2].subarray(1, 1 + /** @type {number} */ (args[2][0]))) closeSync(fd)
    }
    while (this.opened.length > MAX_OPENED) this.quietly(() => closeSync(/** @type {number} */ (this.opened.shift())))
    return result
  }
}
