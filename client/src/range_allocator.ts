// range_allocator.ts - hands out ranges of a growable array: first fit, neighbours merged when freed.
//
// Tests: tests/range_allocator.test.ts

export class RangeAllocator {
  // Free ranges in ascending order, never touching each other.
  private starts: number[] = [];
  private sizes: number[] = [];
  private usedCount = 0;

  constructor(private size: number) {
    if (size > 0) {
      this.starts.push(0);
      this.sizes.push(size);
    }
  }

  get capacity(): number {
    return this.size;
  }

  /** Elements handed out. */
  get used(): number {
    return this.usedCount;
  }

  /** One past the last element handed out: what lies behind need not be drawn. */
  get end(): number {
    const last = this.starts.length - 1;
    if (last >= 0 && this.starts[last]! + this.sizes[last]! === this.size) return this.starts[last]!;
    return this.size;
  }

  /** @returns the first element of the range, or -1 when no gap is wide enough */
  allocate(count: number): number {
    if (count <= 0) return 0;
    for (let i = 0; i < this.starts.length; i++) {
      if (this.sizes[i]! < count) continue;
      const start = this.starts[i]!;
      if (this.sizes[i] === count) {
        this.starts.splice(i, 1);
        this.sizes.splice(i, 1);
      } else {
        this.starts[i] = start + count;
        this.sizes[i] = this.sizes[i]! - count;
      }
      this.usedCount += count;
      return start;
    }
    return -1;
  }

  /** Gives back exactly what allocate handed out. */
  free(start: number, count: number): void {
    if (count <= 0) return;
    let low = 0;
    let high = this.starts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.starts[middle]! < start) low = middle + 1;
      else high = middle;
    }
    const before = low > 0 ? this.starts[low - 1]! + this.sizes[low - 1]! : 0;
    const after = low < this.starts.length ? this.starts[low]! : this.size;
    if (start < before || start + count > after) throw new RangeError(`range ${start}+${count} is not in use`);
    this.usedCount -= count;
    this.insert(low, start, count);
  }

  grow(capacity: number): void {
    if (capacity <= this.size) return;
    const start = this.size;
    this.size = capacity;
    this.insert(this.starts.length, start, capacity - start);
  }

  private insert(at: number, start: number, count: number): void {
    const joinsLeft = at > 0 && this.starts[at - 1]! + this.sizes[at - 1]! === start;
    const joinsRight = at < this.starts.length && start + count === this.starts[at];
    if (joinsLeft && joinsRight) {
      this.sizes[at - 1] = this.sizes[at - 1]! + count + this.sizes[at]!;
      this.starts.splice(at, 1);
      this.sizes.splice(at, 1);
    } else if (joinsLeft) {
      this.sizes[at - 1] = this.sizes[at - 1]! + count;
    } else if (joinsRight) {
      this.starts[at] = start;
      this.sizes[at] = this.sizes[at]! + count;
    } else {
      this.starts.splice(at, 0, start);
      this.sizes.splice(at, 0, count);
    }
  }
}
