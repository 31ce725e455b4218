{
  # In a folder of its own: npm and pnpm build whatever has a binding.gyp beside its package.json, unasked.
  'variables': { 'warnings%': '', 'spec_include%': '../../nvme-spec/include' },
  'target_defaults': {
    # The header of the wire format is in the package that it is generated from.
    'include_dirs': ['.', 'engine', '../cuda', '<(spec_include)'],
    'defines': ['NAPI_VERSION=8', '_GNU_SOURCE'],
    'cflags': ['-fPIC', '-pthread', '-fvisibility=hidden', '-Wall', '-Wextra', '<(warnings)'],
    'cflags_cc': ['-std=c++17'],
    'cflags_cc!': ['-std=gnu++17', '-std=gnu++20'],
    'ldflags': ['-pthread', '-Wl,-s'],
  },
  'targets': [
    {
      # What a driver in user space needs of the kernel, and the device code on threads. No CUDA in it.
      'target_name': 'gpunvme_host',
      # It stays when the thread that loaded it ends: its signal handler does, and its memory.
      'ldflags': ['-Wl,-z,nodelete'],
      'sources': [
        'addon.cc', 'checksum.cc', 'crc32.cc', 'environment.cc', 'foreign.cc', 'memory.cc', 'received.cc',
        'region.cc', 'sockets.cc', 'system.cc', 'values.cc', 'waits.cc',
        'engine/checks.cc', 'engine/cpu_engine.cc', 'engine/cpu_executor.cc', 'engine/doorbell_proxy.cc',
        'engine/engine_api.cc', 'engine/leader_memory.cc', 'engine/session.cc', 'engine/waker.cc',
      ],
    },
    {
      # NVIDIA's driver API, found at run time: no header and no library of CUDA is needed to build or load it.
      'target_name': 'gpunvme_cuda',
      'sources': [
        'cuda/addon.cc', 'cuda/driver.cc', 'cuda/errors.cc', 'cuda/library.cc', 'cuda/memory.cc', 'cuda/parking.cc',
        'cuda/graph.cc', 'cuda/peer.cc', 'cuda/session.cc', 'cuda/state.cc', 'cuda/watcher.cc', 'cuda/work.cc',
        'values.cc', 'engine/checks.cc', 'engine/cuda_engine.cc', 'engine/cuda_executor.cc', 'engine/doorbell_api.cc',
        'engine/doorbell_proxy.cc', 'engine/engine_api.cc', 'engine/leader_memory.cc', 'engine/report_watch.cc',
        'engine/session.cc', 'engine/waker.cc',
      ],
      'libraries': ['-ldl'],
    },
  ],
}
