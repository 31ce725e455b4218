import { GpuNvmeError, type ErrorCategory } from '@gpunvme/nvme-spec/error'

/** How reading over HTTP can fail, and what helps. Each becomes the code `ERR_GPUNVME_HTTP_<PROBLEM>`. */
const HTTP_PROBLEMS = {
  STATUS: 'open the URL in a browser, and give `headers` where it needs authorization',
  NO_RANGES: 'download the file and open it with openModelFile(path), or ask a server that knows Range requests',
  RANGE: 'download the file and open it with openModelFile(path): this server answers ranges wrongly',
  ENCODING: 'download the file and open it with openModelFile(path): this server compresses against the request',
  CHANGED: 'open the model again',
  LENGTH: 'try again; where it happens often, download the file first',
  TIMEOUT: 'try again, or raise timeoutMs',
  CONNECTION: 'check the host name and the network, then try again',
  REDIRECT: 'open the URL of the file itself',
  INSECURE: 'use https, or set allowPlainHttp where you trust every network on the way',
  PRIVATE_ADDRESS: 'open the URL that it leads to, or set allowPrivateAddresses where this server may lead there',
  CLOSED: 'keep the model open until the last read has ended',
} as const

export type HttpProblem = keyof typeof HTTP_PROBLEMS

/** A web server did not give the bytes that it was asked for. `code` says in which way. */
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
