interface MessagePort {
  onmessage?: () => void
  postMessage(message: null): void
  close(): void
}

const runtime = globalThis as {
  readonly setImmediate?: (done: () => void) => unknown
  readonly MessageChannel?: new () => { readonly port1: MessagePort; readonly port2: MessagePort }
}

/**
 * Resolves in a later turn of the event loop, after everything due in this one. Uses a message in a browser, which has
 * no `setImmediate` and delays timers by 4 ms.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (runtime.setImmediate !== undefined) {
      runtime.setImmediate(resolve)
      return
    }
    const { port1, port2 } = new runtime.MessageChannel!()
    port1.onmessage = () => {
      port1.close()
      resolve()
    }
    port2.postMessage(null)
  })
}
