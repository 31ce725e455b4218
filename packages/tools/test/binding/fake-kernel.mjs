// The kernel's side of a tree that looks like /sys, for processes that are started with --import of this file: a write to
// bind, unbind, drivers_probe or driver_override below FAKE_KERNEL_ROOT does what the kernel would do with it (Linux
// drivers/base/bus.c, drivers/pci/pci-driver.c), before the write returns. statfs reports its sys/ as sysfs.
// FAKE_KERNEL_KILL=bind:before:2 kills the process of that verb (SIGKILL) at its second such write, before or after the
// kernel executes it.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { basename, dirname, join } from 'node:path'
import promises from 'node:fs/promises'

const writeFile = promises.writeFile
let writes = 0

promises.writeFile = async (path, text, options) => {
  const root = process.env.FAKE_KERNEL_ROOT
  if (root === undefined || typeof path !== 'string' || !path.startsWith(join(root, 'sys'))) {
    return writeFile(path, text, options)
  }
  const [verb, when, number] = (process.env.FAKE_KERNEL_KILL ?? '').split(':')
  const isLast = process.argv[2] === verb && ++writes === Number(number)
  if (isLast && when === 'before') process.kill(process.pid, 'SIGKILL')
  carryOut(root, path, text.trim())
  if (isLast) process.kill(process.pid, 'SIGKILL')
}

const statfs = promises.statfs
promises.statfs = async (path, options) => {
  const found = await statfs(path, options)
  const isSys = path === join(process.env.FAKE_KERNEL_ROOT ?? '/', 'sys')
  return isSys ? Object.assign(found, { type: 0x62656572 }) : found
}
syncBuiltinESMExports()

function carryOut(root, path, text) {
  const verb = basename(path)
  // As the kernel: there is no such file where there is no such driver, and it is not made.
  if (!fs.existsSync(path)) throw refusal('ENOENT')
  if (verb === 'unbind') return unbind(root, text)
  if (verb === 'bind') return bind(root, text, basename(dirname(path)))
  if (verb === 'drivers_probe') return overrideOf(root, text) === '' ? attach(root, text, 'nvme') : undefined
  fs.writeFileSync(path, verb === 'driver_override' && text === '' ? '(null)\n' : `${text}\n`)
}

function bind(root, bdf, driver) {
  const override = overrideOf(root, bdf)
  if (driver !== (override === '' ? 'nvme' : override) || fs.existsSync(join(device(root, bdf), 'driver'))) {
    throw refusal('ENODEV')
  }
  if (driver === 'vfio-pci' && !fs.existsSync(join(device(root, bdf), 'iommu_group'))) throw refusal('EINVAL')
  attach(root, bdf, driver)
}

function attach(root, bdf, driver) {
  fs.symlinkSync(`../../drivers/${driver}`, join(device(root, bdf), 'driver'))
  if (driver === 'vfio-pci') fs.writeFileSync(join(device(root, bdf), 'power/control'), 'auto\n')
  if (driver === 'nvme') for (const [here, away] of ofLinux(root, bdf)) move(away, here)
}

function unbind(root, bdf) {
  const link = join(device(root, bdf), 'driver')
  const driver = basename(fs.readlinkSync(link))
  fs.rmSync(link)
  if (driver === 'vfio-pci') fs.writeFileSync(join(device(root, bdf), 'power/control'), 'on\n')
  if (driver === 'nvme') for (const [here, away] of ofLinux(root, bdf)) move(here, away)
}

/** What is there while Linux's own driver has the function, and where it is meanwhile. */
function ofLinux(root, bdf) {
  const away = join(root, 'away', bdf)
  fs.mkdirSync(away, { recursive: true })
  return [
    [join(device(root, bdf), 'nvme'), join(away, 'nvme')],
    [join(root, 'sys/class/nvme/nvme0'), join(away, 'class')],
  ]
}

function move(from, to) {
  if (fs.existsSync(from)) fs.renameSync(from, to)
}

function device(root, bdf) {
  return join(root, 'sys/bus/pci/devices', bdf)
}

function overrideOf(root, bdf) {
  const text = fs.readFileSync(join(device(root, bdf), 'driver_override'), 'utf8').trim()
  return text === '(null)' ? '' : text
}

function refusal(code) {
  return Object.assign(new Error(`${code}: write`), { code, syscall: 'write', errno: -1 })
}
