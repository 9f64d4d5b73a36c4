//! Golden models of the workloads of the Pangaea paper (section 6, Table 6), and their data, which
//! are made from a seed.
//!
//! Each is written from what the workload does, a pixel or a point at a time, and not from the
//! kernel in `kernels-asm/media`.

mod images;
mod kmeans;
mod scaling;
mod svm;

use rand::{Rng as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

/// Bytes in front of the data: 16 words, of which the first are the sizes.
pub const HEADER_BYTES: usize = 64;

/// A workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MediaKernel {
    /// Mean of a pixel and the eight around it.
    Linear,
    /// Sepia tone.
    Sepia,
    /// Film grain.
    Fgt,
    /// Bicubic scaling to twice width and height.
    Bicubic,
    /// k-means clustering.
    Kmeans,
    /// Classification of blocks of an image by a support vector machine.
    Svm,
}

/// How large a data set is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MediaSize {
    /// About 1/64 of the paper's.
    Tiny,
    /// About 1/16 of the paper's; 1/32 of k-means and SVM, which take longest.
    Quick,
    /// The paper's, of two the first.
    Paper,
    /// The paper's second one.
    Second,
}

/// What a program reads, and what it must write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MediaData {
    /// The table `input`, its header first.
    pub input: Vec<u8>,
    /// What the table `output` must be at the end.
    pub output: Vec<u8>,
}

impl MediaKernel {
    /// All of them, in the order of the paper.
    pub const ALL: [Self; 6] = [Self::Linear, Self::Sepia, Self::Fgt, Self::Bicubic, Self::Kmeans, Self::Svm];

    /// Its name: that of its file in `kernels-asm/media`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Sepia => "sepia",
            Self::Fgt => "fgt",
            Self::Bicubic => "bicubic",
            Self::Kmeans => "kmeans",
            Self::Svm => "svm",
        }
    }

    /// The source of its program.
    #[must_use]
    pub const fn source(self) -> &'static str {
        match self {
            Self::Linear => include_str!("../../../../../kernels-asm/media/linear.c"),
            Self::Sepia => include_str!("../../../../../kernels-asm/media/sepia.c"),
            Self::Fgt => include_str!("../../../../../kernels-asm/media/fgt.c"),
            Self::Bicubic => include_str!("../../../../../kernels-asm/media/bicubic.c"),
            Self::Kmeans => include_str!("../../../../../kernels-asm/media/kmeans.c"),
            Self::Svm => include_str!("../../../../../kernels-asm/media/svm.c"),
        }
    }

    /// Width and height of its image, or for [`Self::Kmeans`] points and 1.
    #[must_use]
    pub const fn size(self, size: MediaSize) -> [u32; 2] {
        match (self, size) {
            (Self::Linear | Self::Sepia, MediaSize::Tiny) => [80, 60],
            (Self::Linear | Self::Sepia, MediaSize::Quick) => [160, 120],
            (Self::Linear | Self::Sepia, MediaSize::Paper) => [640, 480],
            (Self::Linear | Self::Sepia, MediaSize::Second) => [2000, 2000],
            (Self::Fgt, MediaSize::Tiny) => [128, 96],
            (Self::Fgt, MediaSize::Quick) => [256, 192],
            (Self::Fgt, _) => [1024, 768],
            (Self::Bicubic, MediaSize::Tiny) => [48, 32],
            (Self::Bicubic, MediaSize::Quick) => [96, 64],
            (Self::Bicubic, _) => [360, 240],
            (Self::Kmeans, MediaSize::Tiny) => [1_600, 1],
            (Self::Kmeans, MediaSize::Quick) => [3_200, 1],
            (Self::Kmeans, _) => [100_000, 1],
            (Self::Svm, MediaSize::Tiny) => [64, 32],
            (Self::Svm, MediaSize::Quick) => [160, 64],
            (Self::Svm, _) => [704, 480],
        }
    }

    /// Data of this width and height, or so many points.
    ///
    /// # Errors
    /// The kernel does not take this size: what it takes.
    pub fn data(self, [width, height]: [u32; 2], seed: u64) -> Result<MediaData, String> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let (units, least, most) = match self {
            Self::Linear => ([4, 10], [4, 20], [4096, 4090]),
            Self::Sepia => ([4, 10], [8, 10], [4096, 4090]),
            Self::Fgt => ([8, 8], [16, 8], [4096, 4096]),
            Self::Bicubic => ([8, 16], [16, 16], [480, 2048]),
            Self::Kmeans => ([32, 1], [32, 1], [1 << 20, 1]),
            Self::Svm => ([16, 16], [32, 16], [1024, 1024]),
        };
        let checks = [("width", width, 0), ("height", height, 1)];
        for (name, value, at) in checks {
            if value < least[at] || value > most[at] || value % units[at] != 0 {
                return Err(format!(
                    "{name} {value}: {} takes {} to {}, a multiple of {}",
                    self.name(),
                    least[at],
                    most[at],
                    units[at]
                ));
            }
        }
        let (w, h) = (width as usize, height as usize);
        let (body, output) = match self {
            Self::Linear => {
                let pixels = picture(3 * w, h, &mut random);
                let output = images::linear(&pixels, w, h);
                (pixels, output)
            }
            Self::Sepia => {
                let pixels = picture(3 * w, h, &mut random);
                let output = images::sepia(&pixels);
                (pixels, output)
            }
            Self::Fgt => images::fgt(w, h, &mut random),
            Self::Bicubic => scaling::bicubic(w, h, &mut random),
            Self::Kmeans => kmeans::kmeans(w, &mut random),
            Self::Svm => svm::svm(w, h, &mut random),
        };
        let mut input = vec![0; HEADER_BYTES];
        input[..4].copy_from_slice(&width.to_le_bytes());
        input[4..8].copy_from_slice(&height.to_le_bytes());
        input.extend(body);
        Ok(MediaData { input, output })
    }
}

/// A picture of `width` bytes a row: slopes with noise, and here and there the largest and the
/// smallest value.
fn picture(width: usize, height: usize, random: &mut ChaCha8Rng) -> Vec<u8> {
    let mut pixels = Vec::with_capacity(width * height);
    for y in 0..height {
        for x in 0..width {
            let value = (x / 3 + 2 * y) as u32 / 4 + random.gen_range(0..64);
            pixels.push(match random.gen_range(0..32) {
                0 => 255,
                1 => 0,
                _ => value as u8,
            });
        }
    }
    pixels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_have_their_sizes_and_depend_on_the_seed() {
        for kernel in MediaKernel::ALL {
            let size = kernel.size(MediaSize::Tiny);
            let [first, again, other] = [1, 1, 2].map(|seed| kernel.data(size, seed).unwrap());
            assert_eq!(first, again);
            assert_ne!(first.output, other.output, "{}", kernel.name());
            for size in [MediaSize::Quick, MediaSize::Paper, MediaSize::Second] {
                let [width, height] = kernel.size(size);
                assert!(width % 4 == 0 && height > 0);
            }
        }
    }

    #[test]
    fn sizes_that_a_kernel_does_not_take_are_named() {
        let error = MediaKernel::Linear.data([642, 480], 1).unwrap_err();
        assert_eq!(error, "width 642: linear takes 4 to 4096, a multiple of 4");
        let error = MediaKernel::Svm.data([704, 8], 1).unwrap_err();
        assert_eq!(error, "height 8: svm takes 16 to 1024, a multiple of 16");
    }
}
