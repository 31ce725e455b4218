// Runs a case of the gpunvme module: binds a controller to it by driver_override, and runs the program of
// kmod/test/check.
import { spawnSync } from 'node:child_process'
import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'

const PCI = '/sys/bus/pci'
const DRIVER = join(PCI, 'drivers/gpunvme')
/** File with KFENCE's sample interval in milliseconds; 0 if KFENCE is off. */
const KFENCE = '/sys/module/kfence/parameters/sample_interval'
const ADDRESS = /^[\da-f]{4}:[\da-f]{2}:[\da-f]{2}\.\d$/

const { VM_CHECK = '', VM_CASE = '', VM_DEVICE = '', VM_PORT = '', VM_STRANGER = '' } = process.env
const [name = '', ...rest] = VM_CASE.split(' ')

/** Writes to a file. Returns 'OK', or the name of the errno. */
function write(path: string, text: string): string {
  try {
    writeFileSync(path, text, { flag: 'r+' })
    return 'OK'
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error)
  }
}

/** Like `write`, for write-only files of sysfs. Returns 'OK', or the message of the error. */
function tell(path: string, text: string): string {
  const { status, stderr } = spawnSync('/tmp/vm/busybox', ['sh', '-c', `echo "$1" > "$2"`, 'sh', text, path])
  return status === 0 ? 'OK' : (/: (?:write error: )?(.*)$/m.exec(stderr.toString())?.[1] ?? 'refused')
}

function driverOf(bdf: string): string {
  const link = join(PCI, 'devices', bdf, 'driver')
  return existsSync(link) ? basename(readlinkSync(link)) : 'none'
}

/** Returns the addresses of functions that are bound to the module. */
function bound(): string[] {
  return readdirSync(DRIVER).filter((entry) => ADDRESS.test(entry))
}

function controllers(): string[] {
  const isNvme = (bdf: string) => readFileSync(join(PCI, 'devices', bdf, 'class'), 'utf8').trim() === '0x010802'
  return readdirSync(join(PCI, 'devices')).filter(isNvme)
}

function unbind(bdf: string): void {
  if (driverOf(bdf) !== 'none') tell(join(PCI, 'devices', bdf, 'driver/unbind'), bdf)
}

function override(bdf: string, driver: string): string {
  return write(join(PCI, 'devices', bdf, 'driver_override'), `${driver}\n`)
}

/** Binds a function to the module, if it is not bound yet. @returns the device node */
function take(bdf: string): string {
  if (driverOf(bdf) !== 'gpunvme') {
    unbind(bdf)
    override(bdf, 'gpunvme')
    tell(join(PCI, 'drivers_probe'), bdf)
  }
  const [node] = readdirSync(join(PCI, 'devices', bdf, 'misc'))
  return `/dev/${node!}`
}

/** Tries each method of binding that must fail, then the one that must succeed. */
function binding(bdf: string): object {
  const before = { bound: bound(), drivers: [...new Set(controllers().map(driverOf))] }
  const kernels = tell(join(DRIVER, 'bind'), bdf)
  unbind(bdf)
  const unasked = { result: tell(join(DRIVER, 'bind'), bdf), driver: driverOf(bdf) }
  tell(join(DRIVER, 'new_id'), '1b36 0010')
  const newId = driverOf(bdf)
  tell(join(DRIVER, 'remove_id'), '1b36 0010')
  override(VM_STRANGER, 'gpunvme')
  const stranger = { result: tell(join(DRIVER, 'bind'), VM_STRANGER), driver: driverOf(VM_STRANGER) }
  override(VM_STRANGER, '')
  const node = take(bdf)
  const mode = (statSync(node).mode & 0o777).toString(8)
  return { before, kernels, unasked, newId, stranger, driver: driverOf(bdf), mode, bound: bound() }
}

/** Returns all functions to the kernel's driver, and unloads the module. */
function restored(): object {
  for (const bdf of bound()) {
    unbind(bdf)
    override(bdf, '')
    tell(join(PCI, 'drivers_probe'), bdf)
  }
  const unloaded = spawnSync('/tmp/vm/busybox', ['rmmod', 'gpunvme_test', 'gpunvme'], { encoding: 'utf8' })
  const drivers = [...new Set(controllers().map(driverOf))]
  const count = (key: string) =>
    Number(new RegExp(`^${key} (\\d+)$`, 'm').exec(readFileSync('/proc/vmstat', 'utf8'))?.[1])
  const pinned = count('nr_foll_pin_acquired') - count('nr_foll_pin_released')
  const serials = readdirSync('/sys/class/nvme').map((entry) => readable(entry))
  const kfence = existsSync(KFENCE) ? readFileSync(KFENCE, 'utf8').trim() : 'none'
  return { unloaded: unloaded.stderr.trim(), kfence, drivers, pinned, serials: serials.sort() }
}

/** Reads from the drive of a kernel controller. Returns its serial number and the number of bytes read. */
function readable(entry: string): string {
  const serial = readFileSync(`/sys/class/nvme/${entry}/serial`, 'utf8').trim()
  const path = `/dev/${entry}n1`
  for (let tries = 0; !existsSync(path) && tries < 100; tries++)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50)
  const file = openSync(path, 'r')
  const bytes = readSync(file, Buffer.alloc(4096), 0, 4096, 0)
  closeSync(file)
  return `${serial} ${bytes}`
}

if (name === 'binding' || name === 'restored') {
  process.stdout.write(`${JSON.stringify(name === 'binding' ? binding(VM_DEVICE) : restored())}\n`)
} else {
  const bdf =
    VM_DEVICE === '' ? readdirSync(join(PCI, 'devices', VM_PORT)).find((entry) => ADDRESS.test(entry)) : VM_DEVICE
  if (bdf === undefined) throw new Error('no device behind the PCIe port')
  const { status, signal } = spawnSync(VM_CHECK, [take(bdf), bdf, name, ...rest], { stdio: 'inherit' })
  if (status !== 0) throw new Error(`${VM_CASE} ended with ${status ?? signal ?? 'nothing'}`)
}
