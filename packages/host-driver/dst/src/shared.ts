/** Parts that this campaign shares with that of the simulator. */
export * from '@gpunvme/nvme-sim/dst'
