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

/** Listens on a port that is free, and gives the URL of a model on it. */
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

/** As a sound server answers: the range, its place, and which version of the file it is of. */
function sendRange(response: ServerResponse, first: number, last: number, headers: Record<string, string> = {}): void {
  const body = content.subarray(first, last + 1)
  response.writeHead(206, { 'content-range': `bytes ${first}-${last}/1000`, etag: '"v1"', ...headers }).end(body)
}

const sound: Handler = (_, response, first, last) => sendRange(response, first, last)

/** Opens, reads ten bytes, and gives what was thrown. */
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
  test('knows its size and reads ranges, several at once', async () => {
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

  test('is named without the secrets of its URL', async () => {
    const url = await serve(sound)
    await using source = await openHttpSource(url.replace('http://', 'http://user:pass@'), {
      // Fetch refuses URLs with a password, so this one is what a caller's own fetch would take.
      fetch: () => fetch(url, { headers: { range: 'bytes=0-0' } }),
    })
    expect(source.name).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/models\/m\.gguf$/)
  })

  test('sends the headers that it is given', async () => {
    const error = await failure(
      (request, response, first, last) => {
        if (request.headers.authorization === 'Bearer x') sendRange(response, first, last)
        else response.writeHead(401).end()
      },
      { headers: { authorization: 'Bearer x' } },
    )
    expect(error).toBeUndefined()
  })

  test('follows redirects, as to a content network', async () => {
    const error = await failure((request, response, first, last) => {
      if (request.url === '/elsewhere') sendRange(response, first, last)
      else response.writeHead(302, { location: '/elsewhere' }).end()
    })
    expect(error).toBeUndefined()
  })

  test('of an empty file has no bytes', async () => {
    const url = await serve((_, response) => response.writeHead(416, { 'content-range': 'bytes */0' }).end())
    await using source = await openHttpSource(url)
    expect(source.sizeBytes).toBe(0)
    await source.read(0, new Uint8Array(0))
  })

  test('is closed once for all: reads in flight end, later ones fail', async () => {
    let requests = 0
    const url = await serve((_, response, first, last) => {
      // The second one is never answered.
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

  test('throws the reason of a signal, before and during a read and while it is opened', async () => {
    let requests = 0
    const url = await serve((_, response, first, last) => {
      if (requests++ === 0) sendRange(response, first, last)
    })
    await using source = await openHttpSource(url)
    const abort = new AbortController()
    const { signal } = abort
    const inFlight = source.read(0, new Uint8Array(10), { signal })
    abort.abort(new Error('changed my mind'))
    await expect(inFlight).rejects.toThrow('changed my mind')
    await expect(source.read(0, new Uint8Array(10), { signal })).rejects.toThrow('changed my mind')
    await expect(openHttpSource(url, { signal })).rejects.toThrow('changed my mind')
  })

  test('is for http and https alone', async () => {
    await expect(openHttpSource('file:///etc/passwd')).rejects.toThrow('url: expected http or https, got file:')
  })
})

describe('a server that does not do what it should is refused by name', () => {
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
    ['nothing there', answer(404), 'STATUS', 'not-found'],
    ['something that is gone', answer(410), 'STATUS', 'not-found'],
    ['no permission', answer(403), 'STATUS', 'privilege'],
    ['no authorization', answer(401), 'STATUS', 'privilege'],
    ['an error of its own', answer(500), 'STATUS'],
    ['no content', answer(204, {}, ''), 'STATUS'],
    ['a later range that it cannot satisfy', afterOpening(answer(416, { 'content-range': 'bytes */0' })), 'STATUS'],
    ['a range without its place', answer(206), 'RANGE'],
    ['a file of unknown size', answer(206, { 'content-range': 'bytes 0-0/*' }), 'RANGE'],
    ['a file of more than 2^53 bytes', answer(206, { 'content-range': 'bytes 0-0/9007199254740993' }), 'RANGE'],
    ['another range', afterOpening(answer(206, { 'content-range': 'bytes 0-9/1000' }, '0123456789')), 'RANGE'],
    ['several ranges', answer(206, { 'content-type': 'multipart/byteranges; boundary=b' }), 'RANGE'],
    [
      'compressed bytes',
      answer(206, { 'content-range': 'bytes 0-0/1000', 'content-encoding': 'gzip' }, gzipSync('x')),
      'ENCODING',
    ],
    [
      'another file by ETag',
      afterOpening((_, response, a, b) => sendRange(response, a, b, { etag: '"v2"' })),
      'CHANGED',
    ],
    [
      'another file by date',
      afterOpening((_, response, a, b) =>
        sendRange(response, a, b, { 'last-modified': 'Sat, 21 Nov 2026 10:00:00 GMT' }),
      ),
      'CHANGED',
    ],
    [
      'a file that has grown',
      afterOpening((_, response, a, b) => sendRange(response, a, b, { 'content-range': `bytes ${a}-${b}/1001` })),
      'CHANGED',
    ],
    [
      'fewer bytes than it announced',
      afterOpening((_, response, a, b) => {
        response.writeHead(206, { 'content-range': `bytes ${a}-${b}/1000`, etag: '"v1"' })
        response.write('123')
        response.end()
      }),
      'LENGTH',
    ],
    [
      'more bytes than it announced',
      afterOpening((_, response, a, b) => {
        response.writeHead(206, { 'content-range': `bytes ${a}-${b}/1000`, etag: '"v1"' }).end('01234567890')
      }),
      'LENGTH',
    ],
    [
      'a connection that it drops',
      afterOpening((_, response, a, b) => {
        response.writeHead(206, { 'content-range': `bytes ${a}-${b}/1000`, etag: '"v1"', 'content-length': '10' })
        response.write('123', () => response.destroy())
      }),
      'CONNECTION',
    ],
    ['a connection that it never answers', afterOpening(() => undefined), 'TIMEOUT'],
    [
      'an answer that stops half-way',
      afterOpening((_, response, a, b) => {
        response.writeHead(206, { 'content-range': `bytes ${a}-${b}/1000`, etag: '"v1"', 'content-length': '10' })
        response.write('123')
      }),
      'TIMEOUT',
    ],
  ])(
    '%s',
    async (_, handler, problem, category = 'failure') => {
      const timeoutMs = problem === 'TIMEOUT' ? 200 : 60_000
      const error = await failure(handler, { timeoutMs })
      expect(error).toBeInstanceOf(HttpSourceError)
      expect(error).toMatchObject({ code: `ERR_GPUNVME_HTTP_${problem}`, category })
      expect((error as Error).message).not.toContain('secret')
    },
    60_000,
  )

  test('no server at all', async () => {
    const url = await serve(sound)
    server?.close()
    await expect(openHttpSource(url)).rejects.toMatchObject({ code: 'ERR_GPUNVME_HTTP_CONNECTION' })
  })

  test('what is refused is not received to its end', async () => {
    let signal: AbortSignal | null | undefined
    const whole: typeof fetch = (_, init) => {
      signal = init?.signal
      return Promise.resolve(new Response(new ReadableStream(), { status: 200 }))
    }
    const opening = openHttpSource('http://localhost/m', { fetch: whole })
    await expect(opening).rejects.toMatchObject({ code: 'ERR_GPUNVME_HTTP_NO_RANGES' })
    expect(signal?.aborted).toBe(true)
  })

  describe('a slow one', () => {
    /** Answers reads of ten bytes; they come when `send` is called, on a clock that stands still by itself. */
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

    test('is waited for as long as it goes on', async () => {
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

    test('is given up when it does not', async () => {
      const server = slowServer()
      await using source = await openHttpSource('http://localhost/m', { fetch: server.fetch, timeoutMs: 1000 })
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
      const outcome = source.read(0, new Uint8Array(10)).catch((error: unknown) => error)
      await server.send([1, 2, 3])
      await vi.advanceTimersByTimeAsync(1100)
      expect(await outcome).toMatchObject({ code: 'ERR_GPUNVME_HTTP_TIMEOUT' })
    })
  })

  test('a change says what is different', async () => {
    const error = await failure(afterOpening((_, response, a, b) => sendRange(response, a, b, { etag: '"v2"' })))
    expect((error as Error).message).toContain('ETag: "v1" when it was opened, now "v2"')
  })
})

test('a sharded model is opened over HTTP as it is from a folder, and what is missing is named', async () => {
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
