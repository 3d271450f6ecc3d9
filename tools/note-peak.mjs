// Loaded into a measured child: leaves its peak resident memory, in KiB, in a file when it ends.
import { readFileSync, writeFileSync } from 'node:fs'

process.on('exit', () => {
  writeFileSync(process.env.STACKLOOM_PEAK_FILE, String(peak()))
})

function peak() {
  try {
    return /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))[1]
  } catch {
    return process.resourceUsage().maxRSS
  }
}
