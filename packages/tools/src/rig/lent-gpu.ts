import type { Controller } from '@gpunvme/host-driver'
import { Teardown } from './teardown.js'

/**
 * A GPU that controllers access. A controller that could not be stopped may still access GPU memory, which is then kept
 * until the process ends.
 */
export class LentGpu {
  /** Closes the GPU. */
  readonly gpu = new Teardown()
  /** Frees memory that controllers access, before the GPU is closed. */
  readonly memory = new Teardown()
  /** Controllers to stop. */
  readonly controllers: Controller[] = []
  private isKept = false

  /** @param teardown stops the controllers, then frees the memory and closes the GPU */
  constructor(teardown: Teardown) {
    for (const part of [this.gpu, this.memory]) teardown.add(() => (this.isKept ? undefined : part.run()))
    teardown.add(() => this.stop())
  }

  /** Stops all controllers, even if one fails. @throws the first failure */
  async stop(): Promise<void> {
    const ends = await Promise.allSettled(this.controllers.splice(0).map((controller) => controller.close()))
    for (const end of ends) {
      if (end.status === 'fulfilled') continue
      this.isKept = true
      throw end.reason
    }
  }
}

/** Lends a GPU until `use` ends. If `use` fails, its error is thrown even if a controller cannot be stopped. */
export async function lendGpu<T>(use: (lent: LentGpu) => Promise<T>): Promise<T> {
  const teardown = new Teardown()
  const lent = new LentGpu(teardown)
  try {
    const result = await use(lent)
    await teardown.run()
    return result
  } catch (error) {
    return teardown.undo(error)
  }
}
