import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { safetensors } from '../../test/formats/bytes.js'
import { HttpSourceError, openHttpSource, openModelParts, type HttpSourceOptions } from './index.js'

const content = Buffer.from(Array.from({ length: 1000 }, (_, index) => index & 0xff))

type Handler = (request: IncomingMessage, response: ServerResponse, first: number, last: number) => void

let server: Server | undefined
afterEach(async () => {
  const ended = server
  server = undefined
  ended?.closeAllConnections()
  await new Promise((resolve) => (ended ? ended.close(resolve) : resolve(undefined)))
})

/** Starts a server on a free port, and returns the URL of a model on it. */
async function serve(handler: Handler): Promise<string> {
  const listening = createServer((request, response) => {
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? []
    handler(request, response, Number(first), Number(last))
  })
  server = listening
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve))
  const address = listening.address()
  if (address === null || typeof address === 'string') throw new Error('expected a port')
  return `http://127.0.0.1:${address.port}/models/m.gguf?token=secret`
}

/** Answers correctly: the range, its offset, and an ETag. */
function sendRange(response: ServerResponse, first: number, last: number, headers: Record<string, string> = {}): void {
  const body = content.subarray(first, last + 1)
  response.writeHead(206, { 'content-range': `bytes ${first}-${last}/1000`, etag: '"v1"', ...headers }).end(body)
}

const correct: Handler = (_, response, first, last) => sendRange(response, first, last)

/** Opens a source and reads ten bytes. Returns the error, or undefined. */
async function failure(handler: Handler, options?: HttpSourceOptions): Promise<unknown> {
  const url = await serve(handler)
  try {
    await using source = await openHttpSource(url, options)
    await source.read(500, new Uint8Array(10))
  } catch (error) {
    return error
  }
  return undefined
}

describe('an HTTP source', () => {
  test('an HTTP source has the size of the file and reads ranges concurrently', async () => {
    const ranges: unknown[] = []
    const url = await serve((request, response, first, last) => {
      ranges.push(request.headers.range, request.headers['accept-encoding'])
      sendRange(response, first, last)
    })
    await using source = await openHttpSource(url)
    expect(source.sizeBytes).toBe(1000)
    const [a, b] = [new Uint8Array(300), new Uint8Array(1)]
    await Promise.all([source.read(700, a), source.read(0, b), source.read(1000, new Uint8Array(0))])
    expect(Buffer.compare(a, content.subarray(700))).toBe(0)
    expect(b[0]).toBe(0)
    expect(ranges.slice(0, 2)).toEqual(['bytes=0-0', 'identity'])
    expect(ranges.toSorted().filter((value) => value !== 'identity')).toEqual([
      'bytes=0-0',
      'bytes=0-0',
      'bytes=700-999',
    ])
    await expect(source.read(999, new Uint8Array(2))).rejects.toThrow(RangeError)
  })

  test('an HTTP source has a name without password and query of its URL', async () => {
    const url = await serve(correct)
    await using source = await openHttpSource(url.replace('http://', 'http://user:pass@'), {
      // The global fetch rejects URLs with a password; this stands for a caller's own fetch.
      fetch: () => fetch(url, { headers: { range: 'bytes=0-0' } }),
    })
    expect(source.name).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/models\/m\.gguf$/)
  })

  test('sends the headers of its options', async () => {
    const error = await failure(
      (request, response, first, last) => {
        if (request.headers.authorization === 'Bearer x') sendRange(response, first, last)
        else response.writeHead(401).end()
      },
      { headers: { authorization: 'Bearer x' } },
    )
    expect(error).toBeUndefined()
  })

  test('follows redirects', async () => {
    const error = await failure((request, response, first, last) => {
      if (request.url === '/elsewhere') sendRange(response, first, last)
      else response.writeHead(302, { location: '/elsewhere' }).end()
    })
    expect(error).toBeUndefined()
  })

  test('an empty file has size 0', async () => {
    const url = await serve((_, response) => response.writeHead(416, { 'content-range': 'bytes */0' }).end())
    await using source = await openHttpSource(url)
    expect(source.sizeBytes).toBe(0)
    await source.read(0, new Uint8Array(0))
  })

  test('rejects reads in flight and later reads on close', async () => {
    let requests = 0
    const url = await serve((_, response, first, last) => {
      // The second request is never answered.
      if (requests++ === 0) sendRange(response, first, last)
    })
    const source = await openHttpSource(url)
    const inFlight = source.read(0, new Uint8Array(10))
    await source.close()
    await source.close()
    for (const read of [inFlight, source.read(0, new Uint8Array(10))]) {
      await expect(read).rejects.toMatchObject({ code: 'ERR_GPUNVME_HTTP_CLOSED' })
    }
  })

  test('rejects with the reason of a signal before and during a read, and during open', async () => {
    let requests = 0
    const url = await serve((_, response, first, last) => {
      if (requests++ === 0) sendRange(response, first, last)
    })
    await using source = await openHttpSource(url)
    const abort = new AbortController()
    const { signal } = abort
    const inFlight = source.read(0, new Uint8Array(10), { signal })
    abort.abort(new Error('read aborted'))
    await expect(inFlight).rejects.toThrow('read aborted')
    await expect(source.read(0, new Uint8Array(10), { signal })).rejects.toThrow('read aborted')
    await expect(openHttpSource(url, { signal })).rejects.toThrow('read aborted')
  })

  test('rejects URLs other than http and https', async () => {
    await expect(openHttpSource('file:///etc/passwd')).rejects.toThrow('url: expected http or https, got file:')
  })
})

describe('answers of an HTTP server', () => {
  const afterOpening = (misbehave: Handler): Handler => {
    let requests = 0
    return (request, response, first, last) => {
      if (requests++ === 0) sendRange(response, first, last)
      else misbehave(request, response, first, last)
    }
  }
  const answer = (status: number, headers: Record<string, string> = {}, body: string | Buffer = 'x'): Handler => {
    return (_, response) => void response.writeHead(status, headers).end(body)
  }
  test.each<[string, Handler, string, string?]>([
    ['the whole file for a range', answer(200, {}, content), 'NO_RANGES'],
    ['the whole file for a later range', afterOpening(answer(200, {}, content)), 'NO_RANGES'],
    ['status 404', answer(404), 'STATUS', 'not-found'],
    ['status 410', answer(410), 'STATUS', 'not-found'],
    ['status 403', answer(403), 'STATUS', 'privilege'],
    ['status 401', answer(401), 'STATUS', 'privilege'],
    ['status 500', answer(500), 'STATUS'],
    ['status 204', answer(204, {}, ''), 'STATUS'],
    ['status 416 for a later range', afterOpening(answer(416, { 'content-range': 'bytes */0' })), 'STATUS'],
    ['a range without Content-Range', answer(206), 'RANGE'],
    ['a file of unknown size', answer(206, { 'content-range': 'bytes 0-0/*' }), 'RANGE'],
    ['a file of more than 2^53 bytes', answer(206, { 'content-range': 'bytes 0-0/9007199254740993' }), 'RANGE'],
    ['another range', afterOpening(answer(206, { 'content-range': 'bytes 0-9/1000' }, '0123456789')), 'RANGE'],
    ['several ranges', answer(206, { 'content-type': 'multipart/byteranges; boundary=b' }), 'RANGE'],
    [
      'compressed bytes',
      answer(206, { 'content-range': 'bytes 0-0/1000', 'content-encoding': 'gzip' }, gzipSync('x')),
      'ENCODING',
    ],
    ['another ETag', afterOpening((_, response, a, b) => sendRange(response, a, b, { etag: '"v2"' })), 'CHANGED'],
    [
      'another Last-Modified',
      afterOpening((_, response, a, b) =>
        sendRange(response, a, b, { 'last-modified': 'Sat, 21 Nov 2026 10:00:00 GMT' }),
      ),
      'CHANGED',
    ],
    [
      'another file size',
      afterOpening((_, response, a, b) => sendRange(response, a, b, { 'content-range': `bytes ${a}-${b}/1001` })),
      'CHANGED',
    ],
    [
      'fewer bytes than announced',
      afterOpening((_, response, a, b) => {
        response.writeHead(206, { 'content-range': `bytes ${a}-${b}/1000`, etag: '"v1"' })
        response.write('123')
        response.end()
      }),
      'LENGTH',
    ],
    [
      'more bytes than announced',
      afterOpening((_, response, a, b) => {
        response.writeHead(206, { 'content-range': `bytes ${a}-${b}/1000`, etag: '"v1"' }).end('01234567890')
      }),
      'LENGTH',
    ],
    [
      'a connection closed during the answer',
      afterOpening((_, response, a, b) => {
        response.writeHead(206, { 'content-range': `bytes ${a}-${b}/1000`, etag: '"v1"', 'content-length': '10' })
        response.write('123', () => response.destroy())
      }),
      'CONNECTION',
    ],
    ['a missing answer', afterOpening(() => undefined), 'TIMEOUT'],
    [
      'an answer that stalls',
      afterOpening((_, response, a, b) => {
        response.writeHead(206, { 'content-range': `bytes ${a}-${b}/1000`, etag: '"v1"', 'content-length': '10' })
        response.write('123')
      }),
      'TIMEOUT',
    ],
  ])(
    'the source rejects %s',
    async (_, handler, problem, category = 'failure') => {
      const timeoutMs = problem === 'TIMEOUT' ? 200 : 60_000
      const error = await failure(handler, { timeoutMs })
      expect(error).toBeInstanceOf(HttpSourceError)
      expect(error).toMatchObject({ code: `ERR_GPUNVME_HTTP_${problem}`, category })
      expect((error as Error).message).not.toContain('secret')
    },
    60_000,
  )

  test('a closed server is rejected', async () => {
    const url = await serve(correct)
    server?.close()
    await expect(openHttpSource(url)).rejects.toMatchObject({ code: 'ERR_GPUNVME_HTTP_CONNECTION' })
  })

  test('an answer is cancelled when its status is rejected', async () => {
    let signal: AbortSignal | null | undefined
    const whole: typeof fetch = (_, init) => {
      signal = init?.signal
      return Promise.resolve(new Response(new ReadableStream(), { status: 200 }))
    }
    const opening = openHttpSource('http://localhost/m', { fetch: whole })
    await expect(opening).rejects.toMatchObject({ code: 'ERR_GPUNVME_HTTP_NO_RANGES' })
    expect(signal?.aborted).toBe(true)
  })

  describe('a slow answer', () => {
    /** Answers reads of ten bytes. `send` sends bytes, 900 ms apart on a fake clock. */
    function slowServer() {
      let started: ReadableStreamDefaultController<Uint8Array> | undefined
      const answer = (range: string, body: ReadableStream<Uint8Array> | string) =>
        new Response(body, { status: 206, headers: { 'content-range': `bytes ${range}/1000` } })
      const slow: typeof fetch = (_, init) => {
        if (new Headers(init?.headers).get('range') === 'bytes=0-0') return Promise.resolve(answer('0-0', 'x'))
        const start = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
          started = controller
          init?.signal?.addEventListener('abort', () => controller.error(init.signal?.reason))
        }
        return Promise.resolve(answer('0-9', new ReadableStream({ start })))
      }
      const send = async (bytes: readonly number[]): Promise<void> => {
        for (const byte of bytes) {
          await vi.advanceTimersByTimeAsync(900)
          started?.enqueue(Uint8Array.of(byte))
        }
      }
      return { fetch: slow, send, end: () => started?.close() }
    }
    afterEach(() => void vi.useRealTimers())

    test('a slow answer that makes progress within timeoutMs is read completely', async () => {
      const server = slowServer()
      await using source = await openHttpSource('http://localhost/m', { fetch: server.fetch, timeoutMs: 1000 })
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
      const into = new Uint8Array(10)
      const read = source.read(0, into)
      await server.send([...Array(10).keys()])
      server.end()
      await read
      expect([...into]).toEqual([...Array(10).keys()])
    })

    test('a slow answer that makes no progress within timeoutMs is rejected', async () => {
      const server = slowServer()
      await using source = await openHttpSource('http://localhost/m', { fetch: server.fetch, timeoutMs: 1000 })
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
      const outcome = source.read(0, new Uint8Array(10)).catch((error: unknown) => error)
      await server.send([1, 2, 3])
      await vi.advanceTimersByTimeAsync(1100)
      expect(await outcome).toMatchObject({ code: 'ERR_GPUNVME_HTTP_TIMEOUT' })
    })
  })

  test('a changed ETag is rejected with both values', async () => {
    const error = await failure(afterOpening((_, response, a, b) => sendRange(response, a, b, { etag: '"v2"' })))
    expect((error as Error).message).toContain('ETag: "v1" when it was opened, now "v2"')
  })
})

test('a sharded model is opened over HTTP, and a missing shard is named', async () => {
  const files: Record<string, Uint8Array> = {
    '/m/model.safetensors.index.json': Buffer.from('{"weight_map":{"a":"1.safetensors","b":"2.safetensors"}}'),
    '/m/1.safetensors': safetensors('{"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}}', 3),
  }
  const url = await serve((request, response, first, last) => {
    const body = files[request.url ?? '']
    if (body === undefined) return void response.writeHead(404).end()
    const contentRange = `bytes ${first}-${last}/${body.byteLength}`
    response.writeHead(206, { 'content-range': contentRange }).end(body.subarray(first, last + 1))
  })
  const open = () =>
    openModelParts('model.safetensors.index.json', (name) =>
      openHttpSource(new URL(`/m/${encodeURIComponent(name)}`, url)),
    )
  await expect(open()).rejects.toMatchObject({
    code: 'ERR_GPUNVME_PART_NOT_FOUND',
    headline: expect.stringContaining('2.safetensors') as unknown,
  })
  files['/m/2.safetensors'] = safetensors('{"b":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}', 1)
  await using model = await open()
  expect(model.tensors.map(({ name, part }) => [name, part])).toEqual([
    ['a', 0],
    ['b', 1],
  ])
})
