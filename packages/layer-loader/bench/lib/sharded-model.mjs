// A safetensors model of many shards that have real headers; all other bytes are zero.

const LAYERS = 60
const EXPERTS = 160
const PROJECTIONS = ['gate_proj', 'up_proj', 'down_proj']

/** Returns a model of equally long tensors with names as published models have, like `shardsOf`. */
export function shardedModel({ shards, modelBytes }) {
  const names = tensorNames()
  const length = Math.floor(modelBytes / names.length / 2)
  return shardsOf(
    names.map((name) => [name, [length]]),
    shards,
  )
}

/**
 * Returns the index and the shards of BF16 tensors, in order and of about equal length, and a function that opens them.
 * @param tensors names and shapes
 */
export function shardsOf(tensors, shards) {
  const shardName = (index) =>
    `model-${String(index + 1).padStart(5, '0')}-of-${String(shards).padStart(5, '0')}.safetensors`
  const bytesOf = (shape) => 2 * shape.reduce((product, length) => product * length, 1)
  const modelBytes = tensors.reduce((sum, [, shape]) => sum + bytesOf(shape), 0)
  const weightMap = {}
  const members = Array.from({ length: shards }, () => [])
  let passedBytes = 0
  for (const [name, shape] of tensors) {
    const shard = Math.floor((passedBytes / modelBytes) * shards)
    members[shard].push([name, shape])
    weightMap[name] = shardName(shard)
    passedBytes += bytesOf(shape)
  }
  const files = new Map()
  for (const [shard, entries] of members.entries()) {
    let endBytes = 0
    const rows = entries.map(([name, shape]) => {
      const offsets = [endBytes, (endBytes += bytesOf(shape))]
      return `"${name}":{"dtype":"BF16","shape":[${shape}],"data_offsets":[${offsets}]}`
    })
    const json = Buffer.from(`{${rows.join(',')}}`)
    const prefix = Buffer.alloc(8)
    prefix.writeBigUInt64LE(BigInt(json.length))
    const header = Buffer.concat([prefix, json])
    files.set(shardName(shard), { header, sizeBytes: header.length + endBytes })
  }
  const index = Buffer.from(JSON.stringify({ metadata: { total_size: modelBytes }, weight_map: weightMap }))
  files.set('model.safetensors.index.json', { header: index, sizeBytes: index.length })
  return { files, open: (name) => Promise.resolve(sourceOf(name, files.get(name))) }
}

function tensorNames() {
  const names = ['model.embed_tokens.weight']
  for (let layer = 0; layer < LAYERS; layer++) {
    names.push(`model.layers.${layer}.self_attn.o_proj.weight`)
    for (let expert = 0; expert < EXPERTS; expert++) {
      for (const projection of PROJECTIONS)
        names.push(`model.layers.${layer}.mlp.experts.${expert}.${projection}.weight`)
    }
  }
  names.push('lm_head.weight')
  return names
}

function sourceOf(name, { header, sizeBytes }) {
  return {
    name,
    sizeBytes,
    read(offsetBytes, into) {
      into.fill(0)
      if (offsetBytes < header.length) into.set(header.subarray(offsetBytes, offsetBytes + into.length))
      return Promise.resolve()
    },
    close: () => Promise.resolve(),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }
}
