#include "guest.h"

enum { kTimes = 2000, kNodes = 4096, kEdges = 8 * kNodes };
static u32 starts[kNodes + 1], targets[kEdges], depth[kNodes], queue[kNodes];

/* Breadth-first search over a list of neighbours. */
__attribute__((noinline)) static u32 bfs(u32 root) {
  u32 head = 0, tail = 0;
  for (u32 i = 0; i < kNodes; ++i) depth[i] = ~0U;
  depth[root] = 0;
  queue[tail++] = root;
  while (head < tail) {
    const u32 node = queue[head++];
    for (u32 i = starts[node]; i < starts[node + 1]; ++i) {
      const u32 next = targets[i];
      if (depth[next] != ~0U) continue;
      depth[next] = depth[node] + 1;
      queue[tail++] = next;
    }
  }
  return tail;
}

u32 work(void) {
  u32 reached = 0;
  for (u32 i = 0; i <= kNodes; ++i) starts[i] = i * (kEdges / kNodes);
  for (u32 i = 0; i < kEdges; ++i) targets[i] = next_random() % kNodes;
  for (u32 i = 0; i < kTimes; ++i) reached += bfs(next_random() % kNodes);
  return sum_of(depth, kNodes) + reached;
}
