import { checkRange, type ByteSource } from './byte-source.js'
import { countBytes } from './count-bytes.js'
import { HttpSourceError } from './http-error.js'
import { requireTls, sendFollowing, type HttpPolicy } from './http-redirects.js'

const DEFAULT_TIMEOUT_MS = 30_000

export interface HttpSourceOptions extends HttpPolicy {
  /** Replaces the global `fetch`. It must honour its signal and `redirect: 'manual'`. */
  readonly fetch?: typeof fetch
  /** Headers for the origin of the URL, for example for authorization. Not sent after a redirect to another origin. */
  readonly headers?: Readonly<Record<string, string>>
  /** Aborts the opening. Each read takes its own signal. */
  readonly signal?: AbortSignal
  /** Time limit for the response, and for each further piece of it, in milliseconds. Default: 30,000. */
  readonly timeoutMs?: number
}

/** Properties that must not change while the source is open, or bytes of two versions would be mixed. */
interface Version {
  readonly sizeBytes: number
  readonly etag: string | null
  readonly lastModified: string | null
}

/**
 * Opens a file on a web server for random reads. Each read is one range request (RFC 9110 section 14), which the server
 * must support; nothing is retried. If the file changes while it is open, the next read fails, provided that ETag,
 * Last-Modified or size show the change.
 *
 * Rejects plain http to other machines unless `allowPlainHttp` is set, and redirects to private addresses unless
 * `allowPrivateAddresses` is set.
 *
 * @throws HttpSourceError; TypeError for a URL that is not http or https; the signal's reason.
 */
export async function openHttpSource(url: string | URL, options: HttpSourceOptions = {}): Promise<ByteSource> {
  const address = new URL(url)
  if (!/^https?:$/.test(address.protocol)) throw new TypeError(`url: expected http or https, got ${address.protocol}`)
  const client = new RangeClient(address, options)
  requireTls(address, options, client.name)
  const pinned = await client.read(0, new Uint8Array(1), undefined, options.signal)
  const source: ByteSource = {
    name: client.name,
    sizeBytes: pinned.sizeBytes,
    async read(offsetBytes, into, { signal } = {}) {
      signal?.throwIfAborted()
      checkRange(source, offsetBytes, into.byteLength)
      if (into.byteLength > 0) await client.read(offsetBytes, into, pinned, signal)
    },
    close() {
      client.close()
      return Promise.resolve()
    },
    [Symbol.asyncDispose]: () => source.close(),
  }
  return source
}

class RangeClient {
  /** Without query and user, which may be secret: the name appears in messages. */
  readonly name: string
  readonly #url: URL
  readonly #options: HttpSourceOptions
  readonly #closed = new AbortController()

  constructor(url: URL, options: HttpSourceOptions) {
    this.name = `${url.origin}${url.pathname}`
    this.#url = url
    this.#options = options
  }

  close(): void {
    this.#closed.abort(new HttpSourceError('CLOSED', this.name, 'the source is closed'))
  }

  /**
   * Fills `into` by one request.
   * @param pinned properties that the response must have; undefined for the first request, which is also sent for an
   * empty file.
   */
  async read(offsetBytes: number, into: Uint8Array, pinned?: Version, signal?: AbortSignal): Promise<Version> {
    const { fetch: send = fetch, headers = {}, timeoutMs = DEFAULT_TIMEOUT_MS } = this.#options
    const own = new AbortController()
    const timer = setTimeout(() => {
      own.abort(new HttpSourceError('TIMEOUT', this.name, `no data for ${timeoutMs} ms (timeoutMs)`))
    }, timeoutMs)
    const ended = AbortSignal.any([own.signal, this.#closed.signal, ...(signal ? [signal] : [])])
    try {
      ended.throwIfAborted()
      const range = `bytes=${offsetBytes}-${offsetBytes + into.byteLength - 1}`
      // For a Range request, the Fetch standard requests uncompressed content.
      const request = { url: this.#url, ownHeaders: headers, headers: { range }, signal: ended }
      const response = await sendFollowing(send, request, this.#options, this.name)
      const version = this.#versionOf(response, offsetBytes, into.byteLength, pinned)
      if (version.sizeBytes > 0) await this.#fill(response, into, () => timer.refresh())
      return version
    } catch (error) {
      // The reason is known here, whatever error fetch made of it.
      ended.throwIfAborted()
      if (error instanceof HttpSourceError) throw error
      // fetch's own message may contain the URL with its secrets.
      const why = error instanceof Error && error.cause instanceof Error ? error.cause.message : 'fetch refused the URL'
      throw new HttpSourceError('CONNECTION', this.name, `the connection failed: ${why}`, { cause: error })
    } finally {
      clearTimeout(timer)
      // Ends the transfer of a rejected response; has no effect on a complete one.
      own.abort()
    }
  }

  #versionOf(response: Response, offsetBytes: number, lengthBytes: number, pinned: Version | undefined): Version {
    const { status, headers } = response
    const wanted = `${countBytes(lengthBytes)} from byte ${offsetBytes}`
    const contentRange = headers.get('content-range')
    const isEmpty = pinned === undefined && status === 416 && contentRange === 'bytes */0'
    if (status === 200) {
      throw new HttpSourceError('NO_RANGES', this.name, `it returned the whole file (status 200) instead of ${wanted}`)
    }
    if (status !== 206 && !isEmpty) {
      const category =
        status === 404 || status === 410 ? 'not-found' : status === 401 || status === 403 ? 'privilege' : 'failure'
      throw new HttpSourceError('STATUS', this.name, `it returned status ${status} to a request for ${wanted}`, {
        category,
      })
    }
    const encoding = headers.get('content-encoding') ?? 'identity'
    if (encoding !== 'identity') {
      throw new HttpSourceError(
        'ENCODING',
        this.name,
        `it used Content-Encoding ${encoding}, which the request forbids`,
      )
    }
    const [, first, last, total] = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(contentRange ?? '') ?? []
    const isAsAsked = Number(first) === offsetBytes && Number(last) === offsetBytes + lengthBytes - 1
    if (!isEmpty && !(isAsAsked && Number.isSafeInteger(Number(total)))) {
      const headline = `it returned Content-Range: ${contentRange ?? '(none)'} to a request for ${wanted}`
      throw new HttpSourceError('RANGE', this.name, headline)
    }
    const version: Version = {
      sizeBytes: isEmpty ? 0 : Number(total),
      etag: headers.get('etag'),
      lastModified: headers.get('last-modified'),
    }
    if (pinned !== undefined) refuseChange(this.name, pinned, version)
    return version
  }

  async #fill(response: Response, into: Uint8Array, onProgress: () => void): Promise<void> {
    let done = 0
    for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
      onProgress()
      if (chunk.byteLength > into.byteLength - done) {
        throw new HttpSourceError('LENGTH', this.name, `it sent more than the announced ${into.byteLength} bytes`)
      }
      into.set(chunk, done)
      done += chunk.byteLength
    }
    if (done < into.byteLength) {
      throw new HttpSourceError('LENGTH', this.name, `it sent ${done} of the announced ${into.byteLength} bytes`)
    }
  }
}

function refuseChange(name: string, before: Version, now: Version): void {
  const keys = ['sizeBytes', 'etag', 'lastModified'] as const
  const changes = keys.filter((key) => before[key] !== now[key])
  if (changes.length === 0) return
  const facts = changes.map(
    (key) => `${HEADERS[key]}: ${before[key] ?? '(none)'} when it was opened, now ${now[key] ?? '(none)'}`,
  )
  throw new HttpSourceError('CHANGED', name, 'the file has changed since it was opened', { facts })
}

const HEADERS = { sizeBytes: 'size in bytes', etag: 'ETag', lastModified: 'Last-Modified' } as const
