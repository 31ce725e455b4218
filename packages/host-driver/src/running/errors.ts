import { DriverError } from '../error.js'
import { formatDuration } from '../wait.js'

/** A handle was used after it was closed. */
export function controllerClosed(): DriverError {
  return new DriverError('ERR_GPUNVME_CONTROLLER_CLOSED', 'usage', 'This controller handle is closed', {
    next: 'Controller.open() again',
  })
}

/** The transport was closed before its controller, whose registers cannot be accessed any more. */
export function transportClosed(name: string): DriverError {
  return new DriverError('ERR_GPUNVME_TRANSPORT_CLOSED', 'usage', `Transport ${name} was closed`, {
    next: 'open a new transport; close() a controller before its transport',
  })
}

/** A namespace changed after the call was made. Its command was not sent. */
export function namespaceChanged(nsid: number): DriverError {
  const headline = `Namespace ${nsid} was replaced, resized or detached during the call`
  return new DriverError('ERR_GPUNVME_NAMESPACE_CHANGED', 'device', headline, {
    next: 'check its capacity and block size, then repeat the call',
  })
}

/** A namespace may have changed, and could not be identified. Nothing was sent. */
export function namespaceOutdated(nsid: number): DriverError {
  const headline = `Namespace ${nsid} may have changed and could not be identified`
  return new DriverError('ERR_GPUNVME_NAMESPACE_CHANGED', 'device', headline, {
    facts: ['the driver tries again in the background'],
    next: 'repeat the call after the event "namespaces-changed"',
  })
}

/** The drive did not report a complete shutdown in time. Data written after the last flush may be lost. */
export function shutdownIncomplete(name: string, waitedNs: number, cause?: unknown): DriverError {
  const headline = `Controller ${name} did not complete its shutdown in ${formatDuration(waitedNs)}: CSTS.SHST is not 10b`
  return new DriverError('ERR_GPUNVME_SHUTDOWN_INCOMPLETE', 'device', headline, {
    facts: ['the controller was disabled, and its memory freed'],
    next: 'treat data written since the last flush() as lost',
    cause,
  })
}

/** The serial number given for writing is not that of the controller. Nothing was written. */
export function wrongSerial(given: string): DriverError {
  // The controller's own number is not shown: a wrong one must not be corrected without a look at the drive.
  const headline = `Refused to open for writing: the controller's serial number is not ${JSON.stringify(given)}`
  const next = 'look up the serial number of the intended drive (Identify Controller), and pass that'
  return new DriverError('ERR_GPUNVME_SERIAL_MISMATCH', 'privilege', headline, { next })
}
