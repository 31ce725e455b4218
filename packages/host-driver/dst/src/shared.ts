/**
 * What this campaign has in common with that of the simulator, which does not publish it. Compiled files lie as deep as
 * their sources, so that this path holds for both.
 */
export * from '../../../nvme-sim/dist/dst/index.js'
