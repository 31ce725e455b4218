import { LoaderError } from '../error.js'

/** Returns the error of an argument of a wrong kind, such as a model file where a model on a store is expected. */
export function invalidArgument(argument: string, expected: string, got: string, next?: string): LoaderError {
  return new LoaderError('ERR_GPUNVME_INVALID_ARGUMENT', 'usage', `${argument}: expected ${expected}, got ${got}`, {
    next,
  })
}
