import { notApplicable } from '@gpunvme/nvme-sim/case-kit'
import type { Transport } from '@gpunvme/nvme-spec/transport'
import {
  Controller,
  type ControllerOptions,
  type Management,
  type WritableNamespace,
  type WriteRequest,
} from '../src/index.js'

/** Members of a namespace that every driver under test has. */
type CoreNamespace = Pick<WritableNamespace, 'nsid' | 'blocks' | 'blockBytes' | 'dma' | 'read' | 'write'>
/** Members that a driver may lack. */
type FurtherNamespace = Pick<
  WritableNamespace,
  | 'identity'
  | 'compare'
  | 'copy'
  | 'deallocate'
  | 'execute'
  | 'flush'
  | 'planReads'
  | 'planWrites'
  | 'readBytes'
  | 'verify'
  | 'writeZeroes'
>

type CoreController = Pick<Controller, 'close'>
interface FurtherController extends Pick<
  Controller,
  'identity' | 'queues' | 'queueDepth' | 'maxTransferBytes' | 'recoveryBoundNs' | 'statistics'
> {
  /** Sequence of events; see `Controller.events`. */
  readonly events: Controller['events']
  /** Reads the SMART / Health Information log page. */
  readonly smartLog: Controller['smartLog']
  /** Resets the controller and sets it up again. */
  readonly reset: Controller['reset']
  /** Closes the controller. */
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

/** A namespace of a driver under test. Cases that use a member that it lacks are skipped. */
export type DriverNamespace = CoreNamespace & Partial<FurtherNamespace>

/** A controller that a driver under test has opened. Cases that use a member that it lacks are skipped. */
export interface DriverController extends CoreController, Partial<FurtherController> {
  readonly namespaces: readonly DriverNamespace[]
  /** Present if it was opened with `manage` and the driver can manage namespaces. */
  readonly management?: Pick<Management, 'format' | 'createNamespace' | 'deleteNamespace' | 'attach' | 'detach'>
  /** Returns the namespace with an NSID. Default: looked up in `namespaces`. */
  readonly namespace?: (nsid: number) => DriverNamespace
}

/** Options with which cases open controllers. */
export type DriverOptions = ControllerOptions & { readonly write?: WriteRequest; readonly manage?: true }

/** A driver under test: this package's driver, or another with the same interface. */
export interface DriverUnderTest {
  /**
   * Brings up the controller of `transport`, for writing if `options.write` is present.
   * @throws NotApplicable, from `notApplicable`, to skip a case whose options the driver does not support.
   */
  readonly open: (transport: Transport, options?: DriverOptions) => Promise<DriverController>
}

/** The driver of this package. Its `open` is `Controller.open`. */
export const hostDriver = {
  /** Opens a controller as `Controller.open` does. */
  open: (transport: Transport, options: DriverOptions = {}) =>
    Controller.open(transport, options as ControllerOptions & { write: WriteRequest }),
} satisfies DriverUnderTest

/** A namespace, as used by cases: missing members skip the case. */
export type CaseNamespace = CoreNamespace & FurtherNamespace

/** A controller, as used by cases: missing members skip the case. */
export interface CaseController extends CoreController, FurtherController {
  readonly namespaces: readonly CaseNamespace[]
  /** Returns the namespace with an NSID. */
  readonly namespace: (nsid: number) => CaseNamespace
}

/** Wraps a controller so that the use of a missing member skips the case. */
export function asCaseController(controller: DriverController): CaseController {
  const wrap = (namespace: DriverNamespace) => demanding(namespace as CaseNamespace, 'namespaces')
  const find = (nsid: number) =>
    controller.namespace === undefined
      ? controller.namespaces.find((each) => each.nsid === nsid)
      : controller.namespace(nsid)
  return demanding(controller as CaseController, 'controllers', {
    namespaces: () => controller.namespaces.map(wrap),
    namespace: () => (nsid: number) =>
      wrap(find(nsid) ?? notApplicable('controllers of this driver have no namespace')),
  })
}

function demanding<T extends object>(target: T, what: string, own: Partial<Record<keyof T, () => unknown>> = {}): T {
  // Not a proxy of `target`: a proxy cannot return bound members of a frozen target.
  return new Proxy({} as T, {
    has: (_, key) => key in target,
    get(_, key) {
      const replaced = own[key as keyof T]
      if (replaced !== undefined) return replaced()
      const value: unknown = Reflect.get(target, key)
      // `await` looks up `then` in every object.
      if (value === undefined && key !== 'then') notApplicable(`${what} of this driver have no ${String(key)}`)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
}
