// A safetensors model of many shards with headers and without weights: all other bytes are zero.

const LAYERS = 60
const EXPERTS = 160
const PROJECTIONS = ['gate_proj', 'up_proj', 'down_proj']

/** Returns index and shards with a publisher's names, and a function that opens them. */
export function shardedModel({ shards, modelBytes }) {
  const names = tensorNames()
  const tensorBytes = Math.floor(modelBytes / names.length / 2) * 2
  const shardName = (index) =>
    `model-${String(index + 1).padStart(5, '0')}-of-${String(shards).padStart(5, '0')}.safetensors`
  const weightMap = {}
  const members = Array.from({ length: shards }, () => [])
  for (const [index, name] of names.entries()) {
    const shard = Math.floor((index * shards) / names.length)
    members[shard].push(name)
    weightMap[name] = shardName(shard)
  }
  const files = new Map()
  for (const [shard, tensors] of members.entries()) {
    const entries = tensors.map((name, index) => {
      const offsets = [index * tensorBytes, (index + 1) * tensorBytes]
      return `"${name}":{"dtype":"BF16","shape":[${tensorBytes / 2}],"data_offsets":[${offsets}]}`
    })
    const json = Buffer.from(`{${entries.join(',')}}`)
    const prefix = Buffer.alloc(8)
    prefix.writeBigUInt64LE(BigInt(json.length))
    const header = Buffer.concat([prefix, json])
    files.set(shardName(shard), { header, sizeBytes: header.length + tensors.length * tensorBytes })
  }
  const index = Buffer.from(JSON.stringify({ metadata: { total_size: modelBytes }, weight_map: weightMap }))
  files.set('model.safetensors.index.json', { header: index, sizeBytes: index.length })
  return { open: (name) => Promise.resolve(sourceOf(name, files.get(name))) }
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
