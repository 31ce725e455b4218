/**
 * Control words of the two threads, separate from the shared memory, which belongs to the host and the controller. They
 * are in a SharedArrayBuffer of their own, since memory of a native module cannot be waited on. Words written by
 * different threads are on different cache lines.
 */
export const STATE = 0
/** Incremented to wake the simulator, which announces in ASLEEP that it sleeps. */
export const WAKE = 16
export const ASLEEP = 32
/** Incremented when the controller has done something that the host may be waiting for. */
export const ACTIVITY = 48
/** How the host waits for ACTIVITY. */
export const HOST_WAITS = 64
/** Number of messages sent to the simulator's port, which is read only if this has changed. */
export const REQUESTS = 80
/** Accesses of the JavaScript host, posted and executed; both only increase. */
export const POSTED = 96
export const TAKEN = 112
/** Result of the last access that returns a value. */
export const RESULT = 113
/** 1 if faults apply to register accesses, so that every one of them must be executed by the simulator. */
export const EVERY_ACCESS = 114
/** Three words per access: kind, location, and value to write. */
export const RING = 128
export const RING_ENTRIES = 64

export const CONTROL_BYTES = (RING + 3 * RING_ENTRIES) * 4

/** Kinds of accesses; for configuration space, the width in bytes is added. */
export const REGISTER_WRITE = 0
export const REGISTER_READ = 1
export const TAKE_INTERRUPT = 2
export const CONFIG_READ = 8
export const CONFIG_WRITE = 16

/** Values of STATE. */
export const RUNNING = 1
export const CLOSING = 2
export const ENDED = 3

/** Values of HOST_WAITS: on the futex, or for a message while its event loop runs. */
export const BLOCKED = 1
export const WANTS_MESSAGE = 2

/**
 * Wakes the simulator. No wake-up is lost between its last poll and its sleep: it announces the sleep before it polls,
 * and this checks for the sleep after the work was stored. All of these accesses are atomic and in one order, so one of
 * the two threads sees the other's store.
 */
export function wakeSimulator(control: Int32Array): void {
  if (Atomics.load(control, ASLEEP) === 0) return
  Atomics.add(control, WAKE, 1)
  Atomics.notify(control, WAKE)
}
