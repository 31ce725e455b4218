{
  # In a folder of its own: npm and pnpm build whatever has a binding.gyp beside its package.json, unasked.
  'variables': { 'warnings%': '' },
  'targets': [
    {
      # What a driver in user space needs of the kernel. No CUDA in it, and nothing of NVMe.
      'target_name': 'gpunvme_host',
      'sources': ['addon.cc', 'environment.cc', 'memory.cc', 'region.cc', 'system.cc', 'values.cc', 'waits.cc'],
      'defines': ['NAPI_VERSION=8', '_GNU_SOURCE'],
      'cflags': ['-fPIC', '-pthread', '-fvisibility=hidden', '-Wall', '-Wextra', '<(warnings)'],
      'cflags_cc': ['-std=c++17'],
      'cflags_cc!': ['-std=gnu++17', '-std=gnu++20'],
      'ldflags': ['-pthread', '-Wl,-s'],
    },
  ],
}
