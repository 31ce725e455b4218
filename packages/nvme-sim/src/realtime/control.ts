/**
 * The words by which the two threads talk beside the shared memory, which belongs to the host and the controller
 * alone. They lie in a SharedArrayBuffer of their own, since memory of a native module cannot be waited on. Words that
 * are written by different threads lie on different cache lines.
 */
export const STATE = 0
/** Goes up to wake the simulator, which says in ASLEEP that it has to be. */
export const WAKE = 16
export const ASLEEP = 32
/** Goes up when the controller has done something that the host may have been waiting for. */
export const ACTIVITY = 48
/** How the host waits for ACTIVITY. */
export const HOST_WAITS = 64
/** Messages sent to the simulator's port: it looks there only when this has changed. */
export const REQUESTS = 80
/** Accesses of the JavaScript host, posted and carried out; both go up forever. */
export const POSTED = 96
export const TAKEN = 112
/** What the last access that gives something has given. */
export const RESULT = 113
/** 1 where register accesses are struck by faults, so that every one of them has to be carried out. */
export const EVERY_ACCESS = 114
/** Three words for each access: what it is, where, and what is written. */
export const RING = 128
export const RING_ENTRIES = 64

export const CONTROL_BYTES = (RING + 3 * RING_ENTRIES) * 4

/** What an access is; of configuration space, its width in bytes is added. */
export const REGISTER_WRITE = 0
export const REGISTER_READ = 1
export const TAKE_INTERRUPT = 2
export const CONFIG_READ = 8
export const CONFIG_WRITE = 16

/** Values of STATE. */
export const RUNNING = 1
export const CLOSING = 2
export const ENDED = 3

/** Values of HOST_WAITS: on the futex, or for a message while its event loop turns. */
export const BLOCKED = 1
export const WANTS_MESSAGE = 2

/**
 * Wakes the simulator where it sleeps. Nothing is lost between its last look and its sleep: it says that it sleeps
 * before it looks, and what it is woken for was stored before this asks whether it sleeps. All of these are atomic and
 * so in one order; one of the two threads sees the other's store.
 */
export function wakeSimulator(control: Int32Array): void {
  if (Atomics.load(control, ASLEEP) === 0) return
  Atomics.add(control, WAKE, 1)
  Atomics.notify(control, WAKE)
}
