import { DeviceUseUnknownError, findHolders } from '@gpunvme/host-driver'
import { NVME_CLASS_CODE } from '@gpunvme/nvme-spec/pci'
import { identifyText } from './identify-text.js'
import { unknown, type Known } from './known.js'
import type { Drive, Temperature } from './machine.js'
import { readNamespaces } from './namespaces.js'
import type { PciFunction } from './pci-function.js'
import type { Root } from './root.js'

/** Time limit for the temperature: the kernel queries the drive, which takes a minute if it hangs. */
const TEMPERATURE_MS = 2000

export function readDrives(root: Root, functions: readonly PciFunction[]): Promise<Drive[]> {
  return Promise.all(
    functions.filter(({ classCode }) => classCode === NVME_CLASS_CODE).map((found) => readDrive(root, found)),
  )
}

async function readDrive(root: Root, { address, driver, isResponding }: PciFunction): Promise<Drive> {
  const folder = `sys/bus/pci/devices/${address}/nvme`
  const name = (await root.list(folder)).find((entry) => /^nvme\d+$/.test(entry))
  const path = `${folder}/${name}`
  const holders = await holdersOf(root, address)
  if (name === undefined) {
    const reason = unknown(
      isResponding
        ? `it is bound to ${driver ?? 'no driver'}; only the kernel's nvme driver reports this`
        : 'it is off the bus',
    )
    const nothing = { model: reason, serial: reason, firmware: reason, namespaces: reason, temperature: reason }
    return { address, name, state: undefined, queues: undefined, ...nothing, holders, hostMemoryBuffer: reason }
  }
  const said = async (attribute: string) => {
    const bytes = await root.bytes(`${path}/${attribute}`)
    return bytes === undefined ? root.why(`${path}/${attribute}`) : identifyText(bytes)
  }
  return {
    ...{ address, name },
    model: await said('model'),
    serial: await said('serial'),
    firmware: await said('firmware_rev'),
    state: await root.text(`${path}/state`),
    queues: { count: await root.number(`${path}/queue_count`), entries: await root.number(`${path}/sqsize`) },
    namespaces: await readNamespaces(root, path),
    holders,
    temperature: await inTime(readTemperature(root, path)),
    hostMemoryBuffer: await readHostMemoryBuffer(root, path),
  }
}

/** Reported since Linux 6.2. */
async function readHostMemoryBuffer(root: Root, path: string): Promise<Known<boolean>> {
  const lent = await root.number(`${path}/hmb`)
  return lent === undefined ? root.why(`${path}/hmb`) : lent === 1
}

async function readTemperature(root: Root, path: string): Promise<Known<Temperature>> {
  const sensor = (await root.list(path)).find((entry) => /^hwmon\d+$/.test(entry))
  if (sensor === undefined) return unknown('it has no temperature sensor in the kernel (hwmon)')
  // In thousandths of a degree; the first sensor is the composite temperature.
  const celsius = async (which: string) => {
    const value = await root.number(`${path}/${sensor}/temp1_${which}`)
    return value === undefined ? undefined : Math.round(value / 1000)
  }
  const now = await celsius('input')
  if (now === undefined) return root.why(`${path}/${sensor}/temp1_input`)
  return { celsius: now, warningCelsius: await celsius('max'), criticalCelsius: await celsius('crit') }
}

function inTime(reading: Promise<Known<Temperature>>): Promise<Known<Temperature>> {
  let timer: NodeJS.Timeout
  const late = new Promise<Known<Temperature>>((resolve) => {
    timer = setTimeout(
      () => resolve(unknown(`the drive did not respond within ${TEMPERATURE_MS / 1000} s`)),
      TEMPERATURE_MS,
    )
  })
  return Promise.race([reading, late]).finally(() => clearTimeout(timer))
}

async function holdersOf(root: Root, address: string): Promise<Drive['holders']> {
  try {
    return await findHolders(root.path, address)
  } catch (error) {
    if (error instanceof DeviceUseUnknownError) return unknown(`${error.path} is not readable`)
    throw error
  }
}
