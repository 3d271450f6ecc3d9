import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'web/**/*.test.ts', 'tools/**/*.test.ts', 'test/**/*.test.ts'],
    // Two cores, and suites run two at a time: more workers only make each other slow.
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 120_000,
    pool: 'forks',
  },
})
