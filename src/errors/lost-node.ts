/** Formats the command that declares a node lost: Kubernetes then deletes its pods, which others may replace. Pure. */
import { quoteShellWord } from './shell-words.ts'

export function declareLostCommand(node: string): string {
  return `kubectl taint node ${quoteShellWord(node)} node.kubernetes.io/out-of-service=nodeshutdown:NoExecute`
}
