// Loaded into a measured child process: writes its peak resident memory in KiB to a file at exit.
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
