// Defects of the driver that are known: the campaign does not draw them, or does not judge them, until they are fixed.
// `test/dst/known.test.ts` has the shortest run of each, and fails once it is fixed: remove the constant then.

/**
 * With `interrupts: true`, the driver's waits compete for the interrupt: it resumes one of them, and the others look
 * again only after their own interval. While events are iterated over, each command may be noticed 10 ms late, and a
 * reset of a controller that works can exceed `restartNs`: the controller is then declared lost. Until that is fixed,
 * events are not iterated over with interrupts, and calls have no time limit.
 */
export const INTERRUPTS_RESUME_ONE_WAIT = true as boolean
