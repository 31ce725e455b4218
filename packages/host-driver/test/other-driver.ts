import { GpuNvmeError, type ErrorCategory } from '@gpunvme/nvme-spec'
import { hostDriver, type DriverUnderTest } from '../conformance/index.js'

/** An error of another driver: another class, and none of this package's messages. */
class OtherError extends GpuNvmeError {
  readonly code: GpuNvmeError['code']
  readonly category: ErrorCategory
  readonly found: unknown
  constructor(code: GpuNvmeError['code'], error: GpuNvmeError) {
    super('it failed')
    this.code = code
    this.category = error.category
    this.found = (error as unknown as { found?: unknown }).found
  }
}

/** Returns this package's driver with another error class. @param codeOf replaces a code. Default: keeps all. */
export function otherDriver(codeOf = (code: GpuNvmeError['code']): GpuNvmeError['code'] => code): DriverUnderTest {
  function reworded(error: unknown): unknown {
    if (error instanceof GpuNvmeError) return new OtherError(codeOf(error.code), error)
    if (error instanceof RangeError) return new RangeError('it failed', { cause: error })
    return error instanceof TypeError ? new TypeError('it failed', { cause: error }) : error
  }

  function call(action: () => unknown): unknown {
    try {
      const result = action()
      const isPromise = result instanceof Promise
      return isPromise
        ? result.then(wrapped, (error: unknown) => Promise.reject(reworded(error) as Error))
        : wrapped(result)
    } catch (error) {
      throw reworded(error)
    }
  }

  /** Wraps controllers and namespaces; returns anything else as it is. */
  function wrapped(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(wrapped)
    const isOurs = typeof value === 'object' && value !== null && ('readBytes' in value || 'smartLog' in value)
    if (!isOurs) return value
    return new Proxy(value, {
      get(target, key) {
        const member: unknown = Reflect.get(target, key)
        if (typeof member !== 'function') return wrapped(member)
        return (...given: unknown[]) => call(() => Reflect.apply(member, target, given) as unknown)
      },
    })
  }

  return { open: (...given) => call(() => hostDriver.open(...given)) as ReturnType<DriverUnderTest['open']> }
}
