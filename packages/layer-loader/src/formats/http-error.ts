import { GpuNvmeError, type ErrorCategory } from '@gpunvme/nvme-spec/error'

/** Failures of reading over HTTP, with the next step for each. A failure has the code `ERR_GPUNVME_HTTP_<PROBLEM>`. */
const HTTP_PROBLEMS = {
  STATUS: 'open the URL in a browser; set `headers` if it requires authorization',
  NO_RANGES: 'download the file and open it with openModelFile(path), or use a server that supports Range requests',
  RANGE: 'download the file and open it with openModelFile(path): this server answers Range requests incorrectly',
  ENCODING:
    'download the file and open it with openModelFile(path): this server compresses although the request forbids it',
  CHANGED: 'open the model again',
  LENGTH: 'try again; if it happens often, download the file first',
  TIMEOUT: 'try again, or raise timeoutMs',
  CONNECTION: 'check the host name, the port and the network, then try again',
  REDIRECT: 'open the URL of the file itself',
  INSECURE: 'use https, or set allowPlainHttp if you trust the whole network path',
  PRIVATE_ADDRESS: 'open the target URL directly, or set allowPrivateAddresses if you trust the redirecting server',
  CLOSED: 'keep the model open until the last read has ended',
} as const

/** Codes of the reasons why a model cannot be read over HTTP. */
export type HttpProblem = keyof typeof HTTP_PROBLEMS

/** A web server did not return the requested bytes. `code` identifies the failure. */
export class HttpSourceError extends GpuNvmeError {
  readonly code: `ERR_GPUNVME_HTTP_${HttpProblem}`
  readonly category: ErrorCategory
  /** The URL without its query. */
  readonly sourceName: string

  constructor(
    problem: HttpProblem,
    sourceName: string,
    headline: string,
    details: { category?: ErrorCategory; facts?: readonly string[]; cause?: unknown } = {},
  ) {
    const { category = 'failure', ...rest } = details
    super(`Cannot read ${sourceName}: ${headline}`, { ...rest, next: HTTP_PROBLEMS[problem] })
    this.code = `ERR_GPUNVME_HTTP_${problem}`
    this.category = category
    this.sourceName = sourceName
  }
}
