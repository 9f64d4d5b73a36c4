//! The contents of the shared memory.

/// An address outside the shared memory.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}: {length} bytes at {address:#010x} are outside the shared memory of {size:#x} bytes")]
pub struct AddressError {
    /// What was to be read or written.
    pub what: &'static str,
    /// First byte.
    pub address: u32,
    /// Number of bytes.
    pub length: usize,
    /// Size of the memory in bytes.
    pub size: u64,
}

/// Bytes of a memory line and of a beat.
pub const LINE: usize = hermes_rtl::config::LINE_BYTES;
const PAGE_BITS: u32 = 16;
const PAGE: usize = 1 << PAGE_BITS;

/// A memory of up to 4 GiB from address 0, allocated page by page at the first write; never-written
/// bytes are zero.
#[derive(Clone)]
pub struct MemoryImage {
    pages: Vec<Option<Box<[u8]>>>,
    size: u64,
}

impl MemoryImage {
    /// A memory of `size` bytes (at most 4 GiB; rounded up to whole lines).
    #[must_use]
    pub fn new(size: u64) -> Self {
        let size = size.min(1 << 32).next_multiple_of(LINE as u64);
        Self { pages: vec![None; size.div_ceil(PAGE as u64) as usize], size }
    }

    /// Size in bytes.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Whether `length` bytes from `address` are inside.
    #[must_use]
    pub fn contains(&self, address: u32, length: usize) -> bool {
        u64::from(address) + length as u64 <= self.size
    }

    /// Copies bytes from `address` on.
    ///
    /// # Errors
    /// [`AddressError`].
    pub fn read(&self, address: u32, bytes: &mut [u8]) -> Result<(), AddressError> {
        self.check("read", address, bytes.len())?;
        let mut done = 0;
        while done < bytes.len() {
            let (page, offset) = split(address as usize + done);
            let count = (PAGE - offset).min(bytes.len() - done);
            let target = &mut bytes[done..done + count];
            match &self.pages[page] {
                Some(page) => target.copy_from_slice(&page[offset..offset + count]),
                None => target.fill(0),
            }
            done += count;
        }
        Ok(())
    }

    /// Writes bytes from `address` on.
    ///
    /// # Errors
    /// [`AddressError`].
    pub fn write(&mut self, address: u32, bytes: &[u8]) -> Result<(), AddressError> {
        self.check("write", address, bytes.len())?;
        let mut done = 0;
        while done < bytes.len() {
            let (page, offset) = split(address as usize + done);
            let count = (PAGE - offset).min(bytes.len() - done);
            self.page(page)[offset..offset + count].copy_from_slice(&bytes[done..done + count]);
            done += count;
        }
        Ok(())
    }

    /// The little-endian word at `address`.
    ///
    /// # Errors
    /// [`AddressError`].
    pub fn read_u32(&self, address: u32) -> Result<u32, AddressError> {
        let mut bytes = [0; 4];
        self.read(address, &mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    /// The line that holds `address`, as words in address order; `None` outside.
    #[must_use]
    pub fn read_line(&self, address: u32) -> Option<[u32; LINE / 4]> {
        let address = address & !(LINE as u32 - 1);
        if !self.contains(address, LINE) {
            return None;
        }
        let (page, offset) = split(address as usize);
        let mut line = [0; LINE / 4];
        if let Some(page) = &self.pages[page] {
            for (word, bytes) in line.iter_mut().zip(page[offset..offset + LINE].chunks_exact(4)) {
                *word = u32::from_le_bytes(bytes.try_into().expect("chunks of 4"));
            }
        }
        Some(line)
    }

    /// Writes the bytes of the line at `address` whose bit in `strobe` is 1; `false` outside.
    pub fn write_line(&mut self, address: u32, line: &[u32; LINE / 4], strobe: u64) -> bool {
        let address = address & !(LINE as u32 - 1);
        if !self.contains(address, LINE) {
            return false;
        }
        let (page, offset) = split(address as usize);
        let target = &mut self.page(page)[offset..offset + LINE];
        for (index, (word, bytes)) in line.iter().zip(target.chunks_exact_mut(4)).enumerate() {
            let value = word.to_le_bytes();
            match strobe >> (4 * index) & 0xf {
                0xf => bytes.copy_from_slice(&value),
                0 => {}
                enabled => (0..4).filter(|i| enabled >> i & 1 != 0).for_each(|i| bytes[i] = value[i]),
            }
        }
        true
    }

    /// The lowest address, from `from` on, whose byte is another one in `other`, a memory of the
    /// same size.
    #[must_use]
    pub fn first_difference(&self, other: &Self, from: u32) -> Option<u32> {
        const ZEROS: &[u8] = &[0; PAGE];
        let (first, mut offset) = split(from as usize);
        for (number, (a, b)) in self.pages.iter().zip(&other.pages).enumerate().skip(first) {
            if a.is_some() || b.is_some() {
                let [a, b] = [a, b].map(|page| page.as_deref().unwrap_or(ZEROS));
                if a[offset..] != b[offset..] {
                    let differs = (offset..PAGE).find(|i| a[*i] != b[*i]);
                    return differs.map(|i| ((number << PAGE_BITS) + i) as u32);
                }
            }
            offset = 0;
        }
        None
    }

    fn page(&mut self, page: usize) -> &mut [u8] {
        self.pages[page].get_or_insert_with(|| vec![0; PAGE].into_boxed_slice())
    }

    fn check(&self, what: &'static str, address: u32, length: usize) -> Result<(), AddressError> {
        if self.contains(address, length) {
            Ok(())
        } else {
            Err(AddressError { what, address, length, size: self.size })
        }
    }
}

fn split(address: usize) -> (usize, usize) {
    (address >> PAGE_BITS, address & (PAGE - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_also_across_pages_and_at_the_end() {
        let mut image = MemoryImage::new(1 << 32);
        let bytes: Vec<u8> = (0..=255).collect();
        for address in [0, PAGE as u32 - 100, 0xffff_ff00] {
            image.write(address, &bytes).unwrap();
            let mut back = vec![0; 256];
            image.read(address, &mut back).unwrap();
            assert_eq!(back, bytes, "{address:#x}");
        }
        assert_eq!(image.read_u32(0x4000_0000).unwrap(), 0);
        assert_eq!(image.read_u32(0xffff_ff00).unwrap(), 0x0302_0100);
        let error = image.write(0xffff_ff01, &bytes).unwrap_err().to_string();
        assert!(error.contains("256 bytes at 0xffffff01 are outside"), "{error}");
    }

    #[test]
    fn the_first_difference_is_found() {
        let (mut a, mut b) = (MemoryImage::new(1 << 32), MemoryImage::new(1 << 32));
        // A page of zeros is like one that was never written.
        a.write(0x5000_0000, &[0; 9]).unwrap();
        assert_eq!(a.first_difference(&b, 0), None);
        for address in [0x1_0000, 0x1_0003, 0xffff_ffff] {
            b.write(address, &[7]).unwrap();
        }
        assert_eq!(a.first_difference(&b, 0), Some(0x1_0000));
        assert_eq!(b.first_difference(&a, 0x1_0001), Some(0x1_0003));
        assert_eq!(a.first_difference(&b, 0x1_0004), Some(0xffff_ffff));
        assert_eq!(a.first_difference(&b.clone(), 0xffff_ffff), Some(0xffff_ffff));
        assert_eq!(b.first_difference(&b, 0), None);
    }

    #[test]
    fn lines_are_written_by_strobe() {
        let mut image = MemoryImage::new(1000);
        assert_eq!(image.size(), 1024);
        let line: [u32; 16] = std::array::from_fn(|i| 0x1111_1111 * (i as u32 % 15 + 1));
        assert!(image.write_line(64, &line, u64::MAX));
        assert_eq!(image.read_line(100), Some(line), "any address of the line");
        assert!(image.write_line(64, &[0; 16], 0b0110_0000));
        let mut expected = line;
        expected[1] &= 0xff00_00ff;
        assert_eq!(image.read_line(64), Some(expected));
        assert!(!image.write_line(1024, &line, u64::MAX));
        assert_eq!(image.read_line(1024), None);
    }
}
